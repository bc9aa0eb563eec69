/**
 * A server that lets hostile scripts run, inside the fence and without it, and prints the outcomes as JSON.
 *
 * Runs on the build, so that it can run as another user. Argument: the directory with `workspace`, where the program
 * `fence-attacks` is, `home` and `out`. SERVICES lists sockets that services of this host would have.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

import { createWorkcell } from '../../../dist/library/index.js';

const [root] = process.argv.slice(2);
const [workspace, home, out] = ['workspace', 'home', 'out'].map((name) => join(root, name));
const attacks = join(workspace, 'attacks');
const SECRET = 'VERY-SECRET';

for (const path of ['a', 'secrets', 'node_modules/x']) mkdirSync(join(workspace, path), { recursive: true });
for (const path of ['.env', 'a/.env', 'secrets/key', 'node_modules/x/id.pem', 'a/.env.local'])
  writeFileSync(join(workspace, path), SECRET);
writeFileSync(join(workspace, 'plain'), 'plain');
mkdirSync(join(home, '.ssh'), { recursive: true });
mkdirSync(join(home, '.npm'), { recursive: true });
mkdirSync(join(home, '.local/bin'), { recursive: true });
for (const path of ['.ssh/id_rsa', '.netrc', '.npmrc', '.bash_history']) writeFileSync(join(home, path), SECRET);
writeFileSync(join(home, '.npm/cached'), 'cached');
writeFileSync(join(home, '.local/bin/tool'), 'tool');
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'kept'), 'kept');

const take = (socket) => socket.on('error', () => {}).end('x');
const tcp = createServer(take).listen(0, '127.0.0.1');
const inWorkspace = createServer(take).listen(join(workspace, 'host.sock'));
const outside = createServer(take).listen(join(out, 'host.sock'));
await Promise.all([tcp, inWorkspace, outside].map((server) => new Promise((done) => server.once('listening', done))));
const { port } = tcp.address();

const pid = process.pid;
/** Prints THROUGH when the words of a secret come out of a script. */
const leak = (script) => `(${script}) 2>/dev/null </dev/null | grep -aq ${SECRET} && echo THROUGH`;
const call = (...words) => `${attacks} ${words.join(' ')}`;
/** Key of the attacks that also run without the fence, which proves that each is one. */
const PLAIN = 'also without the fence';
/** Without control groups a job of an ordinary user has a process namespace already. */
const OTHERS = process.getuid() === 0 ? PLAIN : undefined;

const ATTACKS = [
  ['reads a key of home', leak(`cat ${home}/.ssh/id_rsa`), PLAIN],
  ['reads settings of home', leak(`cat ${home}/.netrc ${home}/.npmrc ${home}/.bash_history`), PLAIN],
  ['reads home by ~', leak('cat ~/.ssh/id_rsa'), PLAIN],
  ['searches home', leak(`grep -r . ${home}`), PLAIN],
  ['reads .env', leak('cat .env'), PLAIN],
  ['reads .env by its path', leak(`cat ${workspace}/a/../.env`), PLAIN],
  ['reads .env in a folder', leak('cat a/.env a/.env.local'), PLAIN],
  ['reads below secrets', leak('cat secrets/key secrets/*'), PLAIN],
  ['reads a key in node_modules', leak('cat node_modules/x/id.pem'), PLAIN],
  ['searches the workspace', leak('grep -r . .'), PLAIN],
  ['packs the workspace', leak('tar cf - .'), PLAIN],
  ['links .env and reads the link', leak('ln .env linked; ln -s .env soft; cat linked soft')],
  ['moves .env and reads it', leak('mv .env moved && cat moved')],
  ['moves the folder of .env and reads it', `${leak('mv a b && cat b/.env')}; mv b a 2>/dev/null`],
  ['copies .env', leak('cp .env copied && cat copied'), PLAIN],
  ['reads .env below /proc/self/root', leak(`cat /proc/self/root${workspace}/.env`), PLAIN],
  ['reads .env below /proc/1/root', leak(`cat /proc/1/root${workspace}/.env /proc/1/cwd/.env`)],
  ['reads .env below /proc/self/cwd', leak('cat /proc/self/cwd/.env'), PLAIN],
  ['makes .env readable', leak('chmod 777 .env; cat .env')],
  ['removes .env', 'rm -f .env && echo THROUGH'],
  ['replaces .env', 'echo x > .env && echo THROUGH'],
  ['removes the folder of .env', 'rm -rf a 2>/dev/null; [ -e a ] || echo THROUGH'],
  ['reads the environment of all processes', leak('cat /proc/[0-9]*/environ'), OTHERS],
  ['reads the environment of the server', leak(`cat /proc/${pid}/environ`), OTHERS],
  ['reads the environment of process 1', 'tr "\\0" "\\n" < /proc/1/environ | grep -q . && echo THROUGH'],
  ['lists descriptors of the server', `ls /proc/${pid}/fd && echo THROUGH`, OTHERS],
  ['reads the memory of the server', call('memory', pid), OTHERS],
  ['traces the server', call('ptrace', pid)],
  ['signals the server', call('signal', pid), OTHERS],
  ['continues the server by a signal', `kill -CONT ${pid} && echo THROUGH`, OTHERS],
  ['writes beside the workspace', `echo x > ${out}/written && echo THROUGH`, PLAIN],
  ['changes a file beside the workspace', `echo x >> ${out}/kept && echo THROUGH`, PLAIN],
  ['removes a file beside the workspace', `[ -e ${out}/kept ] && rm -f ${out}/kept && echo THROUGH`],
  ['writes by a symlink', `ln -sfn ${out} outlink; echo x > outlink/written && echo THROUGH`, PLAIN],
  ['writes by ..', 'echo x > ../out/written && echo THROUGH', PLAIN],
  [
    'writes to the system',
    'for d in /etc /usr /usr/local/bin /var/lib /opt /sys /sys/fs/cgroup/pids; do echo x > $d/fence-test && echo THROUGH; done',
  ],
  ['changes the kernel', 'echo 0 > /proc/sys/kernel/randomize_va_space && echo THROUGH'],
  [
    'leaves its control group',
    'for f in $(find /sys/fs/cgroup -maxdepth 4 -name cgroup.procs 2>/dev/null); do echo 0 > $f && echo THROUGH; done',
  ],
  ['connects to an abstract socket', call('abstract', process.env.ABSTRACT_SOCKET), PLAIN],
  ['connects to a socket in the workspace', call('unix', `${workspace}/host.sock`), PLAIN],
  ['connects to a socket outside', call('unix', `${out}/host.sock`), PLAIN],
  ...process.env.SERVICES.split(':').map((path) => [
    `connects to the socket of a service ${path}`,
    call('unix', path),
    PLAIN,
  ]),
  [
    'connects to the services of this host',
    `for s in /run/docker.sock /run/dbus/system_bus_socket /run/systemd/private /tmp/.X11-unix/* /tmp/ssh-*/*; do ${attacks} unix $s; done`,
  ],
  ['connects to a port of this host', call('tcp', '127.0.0.1', port), PLAIN],
  [
    'has another network than loopback',
    'for i in /sys/class/net/* /proc/self/net/dev; do :; done; grep -v lo: /proc/self/net/dev | grep -q : && echo THROUGH',
    PLAIN,
  ],
  ['has a route', 'tail -n +2 /proc/self/net/route | grep -q . && echo THROUGH'],
  [
    'asks the proxy for an address of this host',
    `curl -s -m 5 -x http://127.0.0.1:3128 http://host.internal:${port}/ -o /dev/null -w '%{http_code}' | grep -q 200 && echo THROUGH`,
  ],
  [
    'asks the proxy for the metadata of a cloud',
    `curl -s -m 5 -x http://127.0.0.1:3128 http://169.254.169.254/ -o /dev/null -w '%{http_code}' | grep -vq 403 && echo THROUGH`,
  ],
  [
    'asks the proxy for a private network',
    `curl -s -m 5 -p -x http://127.0.0.1:3128 http://10.0.0.1/ -o /dev/null -w '%{http_connect}' | grep -vq 403 && echo THROUGH`,
  ],
  ['enters the mounts of process 1', call('setns', '/proc/1/ns/mnt')],
  [
    'enters the mounts of the server',
    `${call('setns', `/proc/${pid}/ns/mnt`)}; nsenter -t ${pid} -m true && echo THROUGH`,
  ],
  ['makes a user namespace', `${call('namespace')}; unshare -Urm true && echo THROUGH`],
  ['mounts', call('mount')],
  ['makes the system writable', `${call('remount', '/')}; ${call('remount', '/usr')}`],
  [
    'unmounts the mask',
    `${call('umount', '.env')}; ${call('umount', home)}; ${call('umount', '/proc')}; ${call('umount', '/tmp')}`,
  ],
  ['clones mounts', call('tree', workspace)],
  ['changes its root', `${call('chroot', '/')}; ${call('pivot')}`],
  ['opens by handle', call('handle')],
  ['makes a device', call('device')],
  ['uses keyrings', call('keyring')],
  ['loads programs into the kernel', call('bpf')],
  ['opens raw and foreign sockets', `${call('raw')}; ${call('vsock')}`],
  ['keeps a descriptor of the launcher', call('descriptors')],
  ['becomes another user by a set-uid program', `${join(workspace, 'setuid')} setuid`],
  ['changes a toolchain', 'echo x >> ~/.local/bin/tool && echo THROUGH', PLAIN],
  ['adds to a toolchain', 'echo x > ~/.local/bin/added && echo THROUGH', PLAIN],
  ['removes a toolchain', 'mv ~/.local/bin ~/.local/gone && echo THROUGH && mv ~/.local/gone ~/.local/bin', PLAIN],
  [
    'has a right over the system',
    'for c in $(sed -n "s/^Cap...:.//p" /proc/self/status); do case $c in 0000000000000000|00000000000004fb) ;; *) echo THROUGH;; esac; done',
  ],
  ['sees other processes', '[ $(ls -d /proc/[0-9]* | wc -l) -gt 12 ] && echo THROUGH', OTHERS],
  [
    'reads secrets of the system',
    'head -c1 /etc/shadow | grep -q . && echo THROUGH; ls /etc/ssh | grep -q . && echo THROUGH; ls /root | grep -q . && echo THROUGH',
  ],
  ['reads /proc/kcore', 'head -c1 /proc/kcore | grep -q . && echo THROUGH'],
];

const shell = (config) => ({
  name: 'shell',
  config: { max_timeout_ms: 60_000, default_timeout_ms: 30_000, ...config },
});
const report = { attacks: ATTACKS.length, through: [], without: [], control: 0 };

{
  const fence = { fence: 'workspace', fence_network: 'egress', fence_egress: { allow: [] }, inherit_env: false };
  const cell = await createWorkcell({ workspace, workers: [shell(fence)] });
  for (const [name, script] of ATTACKS) {
    const { stdout } = await cell.call('shell::exec', { command: '', script });
    if (stdout.includes('THROUGH')) report.through.push(name);
  }
  const output = async (script) => (await cell.call('shell::exec', { command: '', script })).stdout;
  await output('echo new > ~/.npm/new; echo x >> ~/.npm/cached; rm ~/.local/bin/tool; echo x > ~/made');
  report.works = await output('cat plain ~/.npm/cached ~/.npm/new; echo ok');

  // Variables must not act on the program that starts the launcher: with pipes, and in a terminal.
  const env = {
    LD_PRELOAD: join(workspace, 'hostile.so'),
    LD_AUDIT: join(workspace, 'hostile.so'),
    LD_LIBRARY_PATH: workspace,
  };
  await cell.call('shell::exec', { command: '', script: 'true', env });
  const { job_id } = await cell
    .call('shell::exec_bg', { command: '/bin/true', env, terminal: { cols: 80, rows: 24 } })
    .catch(() => ({}));
  if (job_id) await cell.call('shell::output', { job_id, wait_ms: 60_000, until: { exit: true } });
  await cell.close();
  report.home = Object.fromEntries(
    ['', '.npm', '.local/bin'].map((path) => [path, readdirSync(join(home, path)).sort()]),
  );
  report.cached = readFileSync(join(home, '.npm/cached'), 'utf8');
}
{
  const open = { allowlist: [], denylist_patterns: [], allowed_env: ['PATH', 'HOME'] };
  const cell = await createWorkcell({ workspace, workers: [shell(open)] });
  for (const [name, script, isPlain] of ATTACKS) {
    if (!isPlain) continue;
    report.control++;
    const { stdout } = await cell.call('shell::exec', { command: 'sh', args: ['-c', script] });
    if (!stdout.includes('THROUGH')) report.without.push(name);
  }
  await cell.close();
}
// Only root can give the program another owner. Jobs of an ordinary user may have a user namespace in which it does nothing.
if (statSync(join(workspace, 'setuid')).uid !== process.getuid()) {
  report.control++;
  const printed = execFileSync(join(workspace, 'setuid'), ['setuid'], { encoding: 'utf8' });
  if (!printed.includes('THROUGH')) report.without.push('becomes another user by a set-uid program');
}
report.env = readFileSync(join(workspace, '.env'), 'utf8');
report.kept = readFileSync(join(out, 'kept'), 'utf8').split('x')[0];
console.log(JSON.stringify(report));
process.exit();
