import { expect, onTestFinished, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { countsBetween, readCounters } from './process-counts.ts'
import { countSyscalls, syscallTool } from './syscalls.ts'

const onLinux = process.platform === 'linux'

test.if(onLinux)('a process that waits counts a voluntary context switch for each wait', async () => {
  const waits = 20
  const before = readCounters(process.pid)
  for (let count = 0; count < waits; count++) await Bun.sleep(2)
  const counts = countsBetween(before, readCounters(process.pid), waits, null)
  expect(counts.voluntary).toBeGreaterThanOrEqual(1)
  expect(counts.syscalls).toBeNull()
})

test.if(onLinux)('memory that is written for the first time counts a page fault for each page', async () => {
  const pages = 4000
  // A file, whose pages are not mapped yet: memory may be what another test has freed.
  const path = join(tmpdir(), `weir-pages-${crypto.randomUUID()}`)
  onTestFinished(() => rm(path))
  await Bun.write(path, new Uint8Array(pages * 4096))
  const bytes = Bun.mmap(path)
  const before = readCounters(process.pid)
  for (let page = 0; page < pages; page++) bytes[page * 4096] = 1
  const counts = countsBetween(before, readCounters(process.pid), 1, null)
  // Pages have 64 kB on some machines.
  expect(counts.minorFaults).toBeGreaterThanOrEqual(pages / 16)
})

const tool = onLinux ? await syscallTool() : undefined

test.if(tool !== undefined)(
  'the system calls of a process are counted from the start to the stop',
  async () => {
    const calls = 500
    // A process of its own, which does nothing else: this one runs other tests.
    const script = `
            import { statSync } from 'node:fs'
      process.stdout.write('started')
      for await (const _ of Bun.stdin.stream()) {
        for (let count = 0; count < ${calls}; count++) statSync('/')
        process.stdout.write('called')
      }`
    await using child = Bun.spawn([process.execPath, '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] })
    const output = child.stdout.getReader()
    await output.read()
    const counting = await countSyscalls(child.pid)
    child.stdin.write('call')
    child.stdin.flush()
    await output.read()
    const found = await counting.stop()
    expect(found).toBeGreaterThanOrEqual(calls)
    expect(found).toBeLessThan(10 * calls)
  },
)
