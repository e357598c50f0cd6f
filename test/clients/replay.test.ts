import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../support/source.ts'
import { weirCommand } from '../support/weir-command.ts'

const folder = join(projectFolder, '../shared')

/** Fewer would mean that recordings were not found. */
const fewest = 500
/** Milliseconds; it takes a few seconds where nothing else runs. */
const deadline = 180_000

if (!existsSync(join(folder, 'replay'))) {
  test.skip('real traffic is replayed (skipped: there is none at ../shared/replay)', () => {})
} else {
  test(
    'recorded replies of real providers come out correctly through the complete gateway',
    async () => {
      const { code, out } = await check()
      const [, passed, failed] = /^(\d+) passed, (\d+) failed, \d+ skipped$/m.exec(out) ?? []
      if (failed !== '0') console.log(out)
      expect({ code, failed }).toEqual({ code: 0, failed: '0' })
      expect(Number(passed)).toBeGreaterThan(fewest)
    },
    deadline,
  )
}

async function check(): Promise<{ readonly code: number; readonly out: string }> {
  const options = {
    recordings: join(folder, 'recordings'),
    weir: `${weirCommand.map((word) => `'${word}'`).join(' ')} serve`,
  }
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
  const running = Bun.spawn([process.execPath, join(folder, 'replay/check.ts'), ...flags], {
    cwd: projectFolder,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
    timeout: deadline - 10_000,
  })
  return { out: await running.stdout.text(), code: await running.exited }
}
