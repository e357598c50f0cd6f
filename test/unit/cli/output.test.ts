import { expect, test } from 'bun:test'
import { detailText, jsonText, table } from '../../../src/cli/output.ts'

test('names that clients choose cannot control the terminal of an operator', () => {
  const name = '\u001b]52;c;cm0=\u0007alice\u009b2J\tb\n'
  const shown = '\ufffd]52;c;cm0=\ufffdalice\ufffd2J b'
  expect(detailText([['User', name]])).toBe(`User  ${shown}`)
  expect(table([{ name }], [{ title: 'USER', value: (row) => row.name }])).toBe(`USER\n${shown}`)
  expect(jsonText({ name })).not.toMatch(/[^\P{Cc}\n]/u)
  expect(JSON.parse(jsonText({ name }))).toEqual({ name })
})
