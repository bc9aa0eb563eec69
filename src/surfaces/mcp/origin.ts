/** Where a request of MCP comes from, and how that gets to the server that answers it. */
import type { AuthInfo } from '@modelcontextprotocol/server';

import type { Principal } from '#contract';

/** Each address has a share of the sessions; calls are made in the principal's name. */
export interface McpOrigin {
  readonly address: string;
  readonly principal?: Principal;
}

/** How a principal goes through the library to the server that it makes for a request. */
export function authInfoOf({ principal }: McpOrigin): AuthInfo {
  return { token: '', clientId: principal?.id ?? '', scopes: [], extra: { principal } };
}

export function principalIn(authInfo: AuthInfo | undefined): Principal | undefined {
  return authInfo?.extra?.principal as Principal | undefined;
}
