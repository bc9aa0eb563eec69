/** The origin of an MCP request, and how it is passed to the server that answers it. */
import type { AuthInfo } from '@modelcontextprotocol/server';

import type { Principal } from '#contract';

/** The address counts for the limit of sessions; calls use the principal. */
export interface McpOrigin {
  readonly address: string;
  readonly principal?: Principal;
}

/** Passes a principal through the library to the server that it makes for a request. */
export function authInfoOf({ principal }: McpOrigin): AuthInfo {
  return { token: '', clientId: principal?.id ?? '', scopes: [], extra: { principal } };
}

export function principalIn(authInfo: AuthInfo | undefined): Principal | undefined {
  return authInfo?.extra?.principal as Principal | undefined;
}
