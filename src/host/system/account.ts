/** Account of this process; the user id as its name where no account has that id, as in a container with --user. */
import { userInfo } from 'node:os';

export function ownAccount(read: typeof userInfo = userInfo): { readonly name: string; readonly home?: string } {
  try {
    const { username, homedir } = read();
    return { name: username, home: homedir };
  } catch {
    return { name: String(process.getuid?.()) };
  }
}
