import { expect, test } from 'bun:test'
import { join } from 'node:path'

test('a reply creates no more objects than its budget, in a process that does nothing else', async () => {
  // Other test files leave work in their process, which makes objects, too.
  const file = join(import.meta.dir, 'alone', 'made-objects.ts')
  await using child = Bun.spawn([process.execPath, 'test', '--timeout=110000', file], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, status] = await Promise.all([child.stderr.text(), child.exited])
  expect(output).toContain('2 pass')
  expect(status).toBe(0)
})
