import { expect, test } from 'bun:test'
import { WorkerPool } from '../../src/cli/serve/workers/worker-pool.ts'
import { spawnWorker } from '../../src/cli/serve/workers/worker-process.ts'
import { loadSettings } from '../../src/config/load.ts'
import { createLog } from '../../src/lib/log.ts'
import { isRunning } from '../reliability/operation/support/weir-workers.ts'
import { temporaryFolder } from '../unit/storage/support/folder.ts'

/** A pool whose workers are this program; `pids` are all that it started. */
function poolOf(program: string, endTimeoutMs = 10_000) {
  const folder = temporaryFolder()
  const pids: number[] = []
  const lines: string[] = []
  const format = { json: true, requests: undefined, log: undefined, shared: false }
  const pool = new WorkerPool({
    count: 1,
    endTimeoutMs,
    loaded: loadSettings({ flags: {}, environment: {}, cwd: folder, home: folder }),
    input: (number, loaded) => ({ number, loaded, drainMs: 0, format }),
    spawn() {
      const listener = {
        outputReady: Promise.resolve(),
        onOutputLine() {},
        onLogLine: (line: string) => void lines.push(line),
        otherMetrics: async () => [],
        otherLiveEvents: async () => [],
      }
      const worker = spawnWorker(listener, [process.execPath, '-e', program])
      pids.push(worker.pid)
      return worker
    },
    onEnded() {},
    log: createLog((line) => void lines.push(line.trimEnd())),
  })
  return { pool, pids, lines }
}

/** A worker that does this with each call. */
function answering(statement: string): string {
  return `process.on('message', ({ id, name }) => { ${statement} })`
}

const reply = "process.send({ type: 'result', id, value: { facts: {} } })"

test('workers that end again and again before they are ready end the server with an error', async () => {
  const { pool, pids } = poolOf("console.error('segmentation fault'); process.exit(3)")
  await expect(pool.start()).rejects.toThrow('The workers cannot start: they end before they are ready.')
  await pool.drain(0, Promise.resolve())
  expect(pids).toHaveLength(5)
  expect(pids.filter(isRunning)).toEqual([])
})

test('a worker that rejects its start ends the server with its reason, at once', async () => {
  const { pool, pids } = poolOf(
    answering("process.send({ type: 'failure', id, message: 'The disk is full.' })"),
  )
  await expect(pool.start()).rejects.toThrow('The disk is full.')
  await pool.drain(0, Promise.resolve())
  expect(pids).toHaveLength(1)
  expect(pids.filter(isRunning)).toEqual([])
})

test('what a worker writes before it crashes is in the log, and its replacement serves', async () => {
  const folder = temporaryFolder()
  const { pool, pids, lines } = poolOf(
    `const first = !(await Bun.file('${folder}/tried').exists())
    await Bun.write('${folder}/tried', '')
    if (first) { console.error('half a line'); process.exit(3) }
    ${answering(`if (name === 'drain') process.exit(0); ${reply}`)}`,
  )
  await pool.start()
  expect(pids).toHaveLength(2)
  expect(lines).toContain('half a line')
  expect(lines.at(-1)).toContain('"worker":1')
  expect(lines.at(-1)).toContain('"exit_code":3')
  await pool.drain(0, new Promise(() => {}))
  expect(pids.filter(isRunning)).toEqual([])
})

test('a worker that does not end when it is aborted is killed', async () => {
  const { pool, pids, lines } = poolOf(answering(reply), 100)
  await pool.start()
  await pool.drain(60_000, Promise.resolve())
  expect(lines.at(-1)).toContain('A worker did not end in time and was killed.')
  expect(pids.filter(isRunning)).toEqual([])
})
