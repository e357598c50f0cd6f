import { describe, expect, test } from 'bun:test'
import { commands, findCommand } from '../../src/cli/run.ts'
import { table } from '../../src/cli/output.ts'
import { temporaryHome } from '../unit/config/support/temporary-home.ts'
import { callWeir, runWeir } from './support/run-weir.ts'

test('weir help lists every command and the global flags, and ends with 0', async () => {
  using home = temporaryHome()
  const { code, out, err } = await runWeir(['--help'], home.place('work'))
  expect({ code, err }).toEqual({ code: 0, err: '' })
  for (const { name, summary } of commands) expect(out).toMatch(new RegExp(`^  ${name} +${summary}$`, 'm'))
  for (const flag of ['--config', '--data', '--json', '--help']) expect(out).toContain(`  ${flag} `)
  for (const args of [['-h'], ['help'], ['help', '--help']])
    expect((await runWeir(args, home.place('work'))).out).toBe(out)
})

test('weir help reads no settings: a broken file does not prevent it', async () => {
  using home = temporaryHome({ 'work/weir.yaml': ': [' })
  const { code, err } = await callWeir(['check', '--help'], home.place('work'))
  expect({ code, err }).toEqual({ code: 0, err: '' })
})

describe('every command', () => {
  for (const entry of commands)
    test(`${entry.name} shows its usage`, async () => {
      using home = temporaryHome()
      const command = await findCommand(entry.name)
      expect(command.usage).toStartWith(`Usage\n  weir `)
      expect(command.usage).toMatch(
        /\nExamples\n( {2}\S.*\bweir\b.*\n|  weir.*\n){2,}\nGlobal flags\n {2}--config FILE /,
      )
      expect(command.usage).toMatch(/\nExit codes\n {2}0 success, 1 failure, 2 wrong usage$/)
      for (const line of command.usage.split('\n')) expect(line.length).toBeLessThanOrEqual(110)
      const requested = await callWeir([entry.name, '--help'], home.place('work'))
      expect(requested).toEqual({ code: 0, out: `${command.usage}\n`, err: '' })
      expect((await callWeir(['help', entry.name], home.place('work'))).out).toBe(requested.out)
    })
})

test('a table is aligned, without trailing spaces and without line breaks in a cell', () => {
  const rows = [
    { name: 'a', price: '1.5' },
    { name: 'long\nname', price: '10' },
  ]
  const text = table(rows, [
    { title: 'NAME', value: ({ name }) => name },
    { title: 'PRICE', value: ({ price }) => price, align: 'right' },
    { title: '', value: () => '' },
  ])
  expect(text.split('\n')).toEqual(['NAME       PRICE', 'a            1.5', 'long name     10'])
})
