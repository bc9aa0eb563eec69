/**
 * Paths of this system that commands in the fence see beside programs and libraries.
 *
 * The folders of home are narrow on purpose: settings with tokens lie beside caches, such as ~/.cargo/credentials.toml
 * beside ~/.cargo/registry.
 */

const words = (text: string): readonly string[] => text.trim().split(/\s+/);
const inHome = (text: string) => words(text).map((path) => `~/${path}`);

/** Package caches: commands write to a private layer above them, which is lost at the end of the server. */
export const SHIPPED_LAYERS = inHome(`
  .npm .pnpm-store .yarn .bun/install/cache .cargo/registry .cargo/git .m2/repository .gradle/caches .gradle/wrapper
  .nuget/packages .gem .bundle/cache go/pkg .ivy2/cache .cache/pip .cache/uv .cache/yarn .cache/pnpm .cache/node
  .cache/node-gyp .cache/go-build .cache/pypoetry .cache/pre-commit .cache/ms-playwright .cache/puppeteer .cache/deno`);

/** Toolchains: read-only. */
export const SHIPPED_TOOLCHAINS = inHome(`
  .nvm .fnm .volta .asdf .pyenv .rbenv .rustup .cargo/bin .sdkman .dotnet .deno/bin .bun/bin .local/bin .local/lib
  .local/share/fnm .local/share/mise .local/share/uv .local/share/pnpm .local/share/pipx .local/share/virtualenv
  .local/pipx go/bin go/src miniconda3 anaconda3`);

/** Hidden: homes, secrets of the system, data of services, and interfaces of the kernel. Missing ones do not matter. */
export const SHIPPED_HIDE = words(`
  /home /root /boot /mnt /media /lost+found
  /etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/sudoers.d /etc/ssh /etc/ssl/private
  /etc/letsencrypt /etc/kubernetes /etc/rancher /etc/wireguard /etc/docker /etc/NetworkManager/system-connections
  /etc/krb5.keytab /etc/machine-id
  /var/log /var/spool /var/mail /var/backups /var/lib/docker /var/lib/containerd /var/lib/containers /var/lib/kubelet
  /var/lib/lxd /var/lib/incus /var/lib/libvirt /var/lib/mysql /var/lib/postgresql /var/lib/redis /var/lib/private
  /var/lib/tailscale /var/lib/cloud
  /sys/kernel/debug /sys/kernel/tracing /sys/kernel/security /sys/firmware /sys/fs/bpf`);
