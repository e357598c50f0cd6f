import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { firstKey } from '../support/app.ts'
import { temporaryFolder } from '../unit/storage/support/folder.ts'
import { runOnTerminal, type TerminalRun, withoutEscapes } from './support/run-terminal.ts'

/** Ctrl-S: from then on, the terminal accepts no output. */
const pause = '\u0013'
const resume = '\u0011'
const interrupt = '\u0003'

/** Above the number of characters that the request log keeps for a slow reader. */
const pendingCharacters = 5 * 1024 * 1024

/** The log line of this request is as long as a client can make it. */
const longPath = `/v1/${'unknown/'.repeat(100)}`
const headers = { 'user-agent': 'a'.repeat(1000) }

describe.skipIf(process.platform === 'win32')('weir serve on a terminal that is paused', () => {
  test('serves every request, and reports the dropped lines once the terminal is read again', async () => {
    await using run = serve('--json')
    const url = await started(run)
    await fetch(`${url}${longPath}`, { headers })
    const [requestLine] = await run.until(/^\{"time".*"path":"\/v1\/unknown.*\}\r?\n/m)
    run.type(pause)
    await paused(run, url)
    const requests = Math.ceil(pendingCharacters / requestLine.length)
    expect(requests).toBeGreaterThan(2000)
    expect(await sendAll(url, requests)).toEqual([404])
    process.kill(run.pid, 'SIGHUP')
    expect(await (await fetch(`${url}/livez`)).json()).toEqual({ status: 'ok' })
    const before = run.text()
    expect(before).not.toContain('dropped')
    run.type(resume)
    const [, count = ''] = await run.until(/"message":"Request log lines were dropped\.","lines":(\d+)\}/)
    await run.until(/"message":"The settings were reloaded\."/)
    await fetch(`${url}/v1/after`)
    await run.until(/"path":"\/v1\/after"/)
    const lines = run.text().split('"path":"/v1/unknown').length - 1
    expect(lines + Number(count)).toBe(requests + 1)
    expect(Number(count)).toBeGreaterThan(0)
    run.type(interrupt)
    expect(await run.exited).toBe(0)
  })

  test('stops at SIGTERM, without the lines that the terminal has not accepted', async () => {
    await using run = serve()
    const url = await started(run)
    run.type(pause)
    await paused(run, url)
    process.kill(run.pid, 'SIGTERM')
    expect(await run.exited).toBe(0)
    expect(run.text()).not.toContain('shutting down')
  })

  test.skipIf(process.platform !== 'linux')(
    'leaves the terminal of its parent in blocking mode',
    async () => {
      await using run = serve()
      await started(run)
      for (const descriptor of [1, 2]) {
        const [, flags = ''] =
          /flags:\s+(\d+)/.exec(readFileSync(`/proc/${run.pid}/fdinfo/${descriptor}`, 'utf8')) ?? []
        // O_NONBLOCK
        expect(Number.parseInt(flags, 8) & 0o4000).toBe(0)
      }
    },
  )
})

function serve(...flags: string[]): TerminalRun {
  const folder = temporaryFolder()
  const environment = { WEIR_DATA: join(folder, 'data'), WEIR_BOOTSTRAP_KEY: firstKey }
  return runOnTerminal(['serve', '--port', '0', ...flags], folder, environment)
}

async function started(run: TerminalRun): Promise<string> {
  const [, url = ''] = await run.until(/listens on (\S+)\r?\n/)
  return url
}

/** Resolves once the terminal shows no further lines: the key takes effect a moment later. */
async function paused(run: TerminalRun, url: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const path = `/v1/probe-${attempt}`
    await fetch(`${url}${path}`)
    await Bun.sleep(200)
    if (!withoutEscapes(run.text()).includes(path)) return
  }
}

/** Sends the requests, many at a time; returns the different statuses. */
async function sendAll(url: string, count: number): Promise<number[]> {
  const statuses = new Set<number>()
  let left = count
  const send = async () => {
    while (left-- > 0) {
      const response = await fetch(`${url}${longPath}`, { headers })
      await response.arrayBuffer()
      statuses.add(response.status)
    }
  }
  await Promise.all(Array.from({ length: 50 }, send))
  return [...statuses]
}
