import { expect, test } from 'bun:test'
import type { CliContext, Terminal } from '../../src/cli/context.ts'
import { barText, createProgress, withProgress } from '../../src/cli/output.ts'

function worldOf(errTerminal?: Terminal) {
  const lines: string[] = []
  const err = (text: string) => void lines.push(text)
  const scenario: CliContext = { environment: {}, cwd: '/', home: '/', out: err, err, errTerminal }
  return { world: scenario, lines }
}

/** A terminal whose writes are heard of. */
function terminal(columns: number) {
  const written: string[] = []
  let wake = () => {}
  const drawn = async (count: number) => {
    while (written.length < count) await new Promise<void>((resolve) => (wake = resolve))
  }
  const screen: Terminal = {
    descriptor: 2,
    size: () => ({ columns, rows: 24 }),
    color: false,
    write(text) {
      written.push(text)
      wake()
    },
  }
  return { screen, written, drawn }
}

test('progress on a terminal is redrawn in one line, which is cleared at the end', async () => {
  const { screen, written, drawn } = terminal(12)
  const { world: scenario, lines } = worldOf(screen)
  let count = 0
  await withProgress(drawn(2), scenario, false, () => `Copying ${++count} of many`)
  expect(written).toEqual(['\rCopying 1 o\u001b[K', '\rCopying 2 o\u001b[K', '\r\u001b[K'])
  expect(lines).toEqual([])
})

test('progress is hidden with --json', async () => {
  const { screen, written } = terminal(80)
  const { world: scenario, lines } = worldOf(screen)
  const progress = createProgress(scenario, true)
  progress.show(() => 'Copying')
  await withProgress(Bun.sleep(1), scenario, true, () => 'Copying')
  progress.end()
  expect([written, lines]).toEqual([[], []])
})

test.each([
  [0, ''],
  [Number.NaN, ''],
  [0.001, '▏'],
  [0.5, '██'],
  [0.53, '██▏'],
  [1, '████'],
  [2, '████'],
])('the progress bar of %p in four characters is %p', (share, text) => {
  expect(barText(share, 4)).toBe(text)
})
