import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { freePort } from '../free-port.ts'
import { postgresPrograms, preparePrograms } from './programs.ts'

/** Whether a PostgreSQL can be started. */
export const hasPostgres = postgresPrograms !== undefined

/** Whether the tests that need no SQLite file run against PostgreSQL. */
export const testsUsePostgres = process.env.WEIR_TEST_DATABASE === 'postgres'

export type PostgresServer = {
  readonly port: number
  /** The process that accepts connections. */
  readonly pid: number
  /** The URL of a database on it. */
  url(database: string): string
  /** Creates a database with a name that no other one has, empty or a copy of another one, and returns its URL. */
  createDatabase(copied?: string): Promise<string>
  /** Deletes a database, also while it is used. */
  dropDatabase(url: string): Promise<void>
  /** Stops the server at once, as a crash does, or after it has closed its connections. */
  stop(signal: 'SIGQUIT' | 'SIGINT'): Promise<void>
  /** Starts it again on the same port. */
  start(): Promise<void>
  /** Stops the server and deletes its files. */
  dispose(): Promise<void>
}

export type ServerOptions = {
  /** Whether a commit survives a crash of the server; slower. */
  readonly durable?: boolean
}

/** Starts a PostgreSQL of its own in a temporary folder, never as root. */
export async function startPostgres({ durable = false }: ServerOptions = {}): Promise<PostgresServer> {
  if (postgresPrograms === undefined) throw new Error('There is no PostgreSQL on this machine.')
  const folder = mkdtempSync(join(tmpdir(), 'weir-postgres-'))
  const programs = preparePrograms(postgresPrograms, join(folder, 'programs'))
  const data = join(folder, 'data')
  if (unprivileged) {
    chmodSync(folder, 0o700)
    chownSync(folder, unprivileged.uid, unprivileged.gid)
  }
  const initialized = Bun.spawnSync(
    [
      join(programs, 'initdb'),
      '-D',
      data,
      '-U',
      'weir',
      '--auth=trust',
      '-E',
      'UTF8',
      '--locale=C',
      '--no-sync',
    ],
    { ...unprivileged, cwd: folder, stdout: 'ignore', stderr: 'pipe', env: { ...process.env, LC_ALL: 'C' } },
  )
  if (initialized.exitCode !== 0) throw new Error(`initdb failed: ${initialized.stderr.toString()}`)
  const port = await freePort()
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder,
    max_connections: 300,
    // A commit does not wait for the disk of a busy machine: what the system has survives a crash of the server.
    fsync: 'off',
    synchronous_commit: durable ? 'on' : 'off',
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const url = (database: string) => `postgres://weir@127.0.0.1:${port}/${database}`
  let child: Bun.Subprocess | undefined
  let databases = 0
  let administrator: Promise<Client> | undefined
  let statements = 0

  /** On one connection for all databases: to open one takes half as long as to create a database. */
  async function administer(text: string): Promise<void> {
    administrator ??= connect(url('postgres'), () => (administrator = undefined))
    const client = await administrator
    if (statements++ === 0) client.ref()
    try {
      await client.query({ text })
    } finally {
      // A process that has nothing else to do ends.
      if (--statements === 0) client.unref()
    }
  }

  async function start(): Promise<void> {
    // The shell stops the server when this process ends in any way, and with it the pipe.
    child = Bun.spawn(
      ['bash', '-c', guard, 'guard', data, String(process.pid), join(programs, 'postgres'), ...options],
      {
        ...unprivileged,
        cwd: folder,
        stdin: 'pipe',
        stdout: 'ignore',
        stderr: 'ignore',
      },
    )
    // A process that has nothing else to do ends, and the server with it.
    child.unref()
    await untilReady(url('postgres'))
  }

  const pid = () => Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])

  async function stop(signal: 'SIGQUIT' | 'SIGINT'): Promise<void> {
    if (child?.exitCode !== null) return
    process.kill(pid(), signal)
    await child.exited
  }

  await start()
  const [{ version = '' } = {}] = await execute<{ version: string }>(
    url('postgres'),
    "SELECT current_setting('server_version_num') version",
  )
  // To copy files takes a fraction of the time of writing all of their pages to the log. Version 14 has no other way.
  const strategy = Number(version) >= 150_000 ? ' STRATEGY file_copy' : ''
  return {
    port,
    get pid() {
      return pid()
    },
    url,
    async createDatabase(copied) {
      const name = `weir_${process.pid}_${++databases}`
      const template = copied ? ` TEMPLATE ${new URL(copied).pathname.slice(1)}` : ''
      await administer(`CREATE DATABASE ${name}${template}${strategy}`)
      return url(name)
    },
    async dropDatabase(created) {
      await administer(`DROP DATABASE IF EXISTS ${new URL(created).pathname.slice(1)} WITH (FORCE)`)
    },
    start,
    stop,
    async dispose() {
      await stop('SIGQUIT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Stops the server when the input ends, and deletes its files if the test process has ended too. */
const guard = `exec 3<&0; data=$1; tests=$2; shift 2
  "$1" -D "$data" "\${@:2}" 3<&- & server=$!
  (cat <&3 > /dev/null; kill -QUIT $server; sleep 1; [ -d /proc/$tests ] || ps -p $tests || rm -rf "$(dirname "$data")") > /dev/null 2>&1 &
  exec 3<&-; wait $server`

/** Each test file has its own modules; all of them share the server of the process. */
const run = globalThis as { weirTestPostgres?: Promise<PostgresServer> }

/** The server of this test run, which ends with it; each caller creates its own database on it. */
export function sharedPostgres(): Promise<PostgresServer> {
  run.weirTestPostgres ??= startPostgres()
  return run.weirTestPostgres
}

/** `onLost` is called if the connection cannot be used any more. */
async function connect(url: string, onLost: () => void): Promise<Client> {
  const client = new Client({ connectionString: url })
  client.on('error', onLost)
  try {
    await client.connect()
  } catch (error) {
    onLost()
    throw error
  }
  return client
}

/** Runs one statement on a connection of its own. */
export async function execute<Row>(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = await connect(url, () => {})
  try {
    const { rows } = await client.query({ text, values })
    return [...rows] as Row[]
  } finally {
    await client.end()
  }
}

async function untilReady(url: string): Promise<void> {
  for (const deadline = performance.now() + 60_000; ;) {
    try {
      await execute(url, 'SELECT 1')
      return
    } catch (error) {
      if (performance.now() > deadline) throw error
      await Bun.sleep(20)
    }
  }
}

/** PostgreSQL does not run as root. */
const unprivileged = process.getuid?.() === 0 ? userNamed('nobody') : undefined

function userNamed(name: string): { readonly uid: number; readonly gid: number } | undefined {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((line) => line.startsWith(`${name}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}
