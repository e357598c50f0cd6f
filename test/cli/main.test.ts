import manifest from '../../package.json'
import { describe, expect, test } from 'bun:test'
import { CommandError, UsageError } from '../../src/cli/errors.ts'
import { parseFlags } from '../../src/cli/command.ts'
import type { CliContext } from '../../src/cli/context.ts'
import { run } from '../../src/cli/run.ts'
import { temporaryHome } from '../unit/config/support/temporary-home.ts'
import { weirCommand } from '../support/weir-command.ts'
import { runWeir } from './support/run-weir.ts'

const wrongUsage: readonly [args: string, message: string][] = [
  ['check --jsn', 'Unknown flag --jsn. Did you mean --json? For help, run: weir check --help'],
  ['check --zzzzzz', 'Unknown flag --zzzzzz. For help, run: weir check --help'],
  ['check -x', 'Unknown flag -x. For help, run: weir check --help'],
  ['check --__proto__', 'Unknown flag --__proto__. For help, run: weir check --help'],
  ['check --json=yes', 'The flag --json does not take a value. For help, run: weir check --help'],
  ['check --config', 'The flag --config requires a value. For help, run: weir check --help'],
  ['check --config --online', 'The flag --config requires a value. For help, run: weir check --help'],
  ['check now', 'Unexpected argument “now” for weir check. For help, run: weir check --help'],
  ['chekc', 'Unknown command “chekc”. Did you mean check? For help, run: weir --help'],
  ['help zzzzzz', 'Unknown command “zzzzzz”. For help, run: weir --help'],
]

describe('wrong usage is one error message on standard error and exit code 2', () => {
  for (const [args, message] of wrongUsage)
    test(args, async () => {
      expect(await inProcess(args.split(' '))).toEqual({ code: 2, out: '', err: `${message}\n` })
    })

  test('also in the executable', async () => {
    using home = temporaryHome()
    const { code, out, err } = await runWeir(['version', '--jsno'], home.place('work'))
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toBe('Unknown flag --jsno. Did you mean --json? For help, run: weir version --help\n')
  })
})

test('weir version prints the versions of weir and Bun, and an object with --json', async () => {
  using home = temporaryHome()
  const { code, out, err } = await runWeir(['version'], home.place('work'))
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toStartWith(`weir ${manifest.version} (Bun ${Bun.version}, `)
  expect((await runWeir(['--version'], home.place('work'))).out).toBe(out)
  const json = await inProcess(['version', '--json'])
  expect(JSON.parse(json.out)).toMatchObject({ version: manifest.version, bun: Bun.version })
})

test('an invalid setting ends a command with exit code 1 and names its place', async () => {
  using home = temporaryHome({ 'work/weir.yaml': 'prot: 1' })
  const { code, out, err } = await runWeir(['models'], home.place('work'))
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toBe(`In ${home.place('work/weir.yaml')}:1:1: prot: unknown setting. Did you mean port?\n`)
})

test('the value of a flag may follow it or an equals sign, and arguments may be anywhere', () => {
  const signature = {
    command: 'keys create',
    flags: { name: 'text', all: 'switch' },
    operands: ['ID', 'MORE?'],
  } as const
  const { flags, operands } = parseFlags(
    ['--name', 'one two', 'id', '--all', '--data=-odd', '--', '--more'],
    signature,
  )
  expect(flags).toEqual({ name: 'one two', all: true, data: '-odd' })
  expect(operands).toEqual(['id', '--more'])
  expect(() => parseFlags([], signature)).toThrow(
    new UsageError('Missing argument ID for weir keys create. For help, run: weir keys --help'),
  )
})

test('an expected failure prints its message, and any other one its name without the stack', async () => {
  const failing = (error: Error) => inProcess(['check'], { environment: throwing(error) })
  expect(await failing(new CommandError('The disk is full.'))).toEqual({
    code: 1,
    out: '',
    err: 'The disk is full.\n',
  })
  const { code, err } = await failing(new TypeError('x is\nno function'))
  expect(code).toBe(1)
  expect(err).toBe(
    'Unexpected error: TypeError: x is no function. To see the stack trace, set WEIR_DEBUG=1.\n',
  )
})

test('with --json a failure is one line of JSON on standard error, with the same exit code', async () => {
  const { out, err, code } = await inProcess(['check', '--zzzzzz', '--json'])
  expect({ out, code, lines: err.split('\n').length }).toEqual({ out: '', code: 2, lines: 2 })
  const message = 'Unknown flag --zzzzzz. For help, run: weir check --help'
  expect(JSON.parse(err)).toEqual({ error: { message, code: 'wrong_usage' } })
  using home = temporaryHome({ 'work/weir.yaml': 'prot: 1' })
  const codes: [args: string[], code: number, name: string][] = [
    [['models'], 1, 'invalid_settings'],
    [['models', '--data', ''], 2, 'wrong_usage'],
    [['usage', '--data', home.place('nowhere')], 1, 'failed'],
    [['check'], 1, 'check_failed'],
    [['chekc'], 2, 'wrong_usage'],
    [['bench', '--against', 'acme'], 2, 'wrong_usage'],
    [['backup', 'copy.db', '--data', home.place('nowhere')], 1, 'failed'],
  ]
  for (const [args, code, name] of codes) {
    const failed = await inProcess([...args, '--json'], { cwd: home.place('work') })
    expect([args, failed.code, JSON.parse(failed.err).error.code]).toEqual([args, code, name])
  }
  // In a process of its own, because the server replaces the process that it was started in.
  const served = await runWeir(['serve', '--port', 'x', '--json'], home.place('work'))
  expect([served.code, JSON.parse(served.err).error.code]).toEqual([2, 'invalid_settings'])
  const environment = throwing(new TypeError('broken'), { WEIR_DEBUG: '1' })
  const broken = JSON.parse((await inProcess(['check', '--json'], { environment })).err).error
  expect(broken).toMatchObject({ code: 'internal_error', stack: expect.stringContaining('main.test.ts') })
  // Behind `--` it is no flag.
  expect((await inProcess(['check', '--', '--json'])).err).toBe(
    'Unexpected argument “--json” for weir check. For help, run: weir check --help\n',
  )
})

test('a negative number is a value, not a flag', () => {
  const signature = { command: 'x', flags: { note: 'text' }, operands: ['NAME', 'USD'] } as const
  const { flags, operands } = parseFlags(['acme', '-12.50', '--note', '-3'], signature)
  expect([flags.note, operands]).toEqual(['-3', ['acme', '-12.50']])
  expect(parseFlags(['--', 'acme', '-.5'], signature).operands).toEqual(['acme', '-.5'])
  expect(parseFlags(['--note=-1', 'acme', '-.5'], signature)).toMatchObject({ flags: { note: '-1' } })
  expect(() => parseFlags(['acme', '1', '-x'], signature)).toThrow(
    new UsageError('Unknown flag -x. For help, run: weir x --help'),
  )
})

test('WEIR_DEBUG adds the stack trace', async () => {
  const environment = throwing(new TypeError('broken'), { WEIR_DEBUG: '1' })
  expect((await inProcess(['check'], { environment })).err).toContain('main.test.ts')
})

/** An environment whose WEIR_CONFIG cannot be read. */
function throwing(error: Error, environment: CliContext['environment'] = {}): CliContext['environment'] {
  return Object.defineProperty({ ...environment }, 'WEIR_CONFIG', {
    get: () => {
      throw error
    },
  })
}

async function inProcess(args: readonly string[], scenario: Partial<CliContext> = {}) {
  let out = ''
  let err = ''
  const code = await run(args, {
    environment: {},
    cwd: '/nowhere',
    home: '/nowhere',
    out: (text) => void (out += `${text}\n`),
    err: (text) => void (err += `${text}\n`),
    ...scenario,
  })
  return { code, out, err }
}

/** A user id of its own needs a kernel that gives namespaces to everybody. */
const asStranger = ['unshare', '--user', '--map-user=12345']
const canMapUser =
  Bun.which('unshare') !== null &&
  Bun.spawnSync([...asStranger, 'true'], { stdout: 'ignore', stderr: 'ignore' }).success

test.skipIf(!canMapUser)('a user without a home folder runs commands, as in some containers', async () => {
  using home = temporaryHome()
  const child = Bun.spawn([...asStranger, ...weirCommand, 'check', '--json'], {
    cwd: home.place('work'),
    env: { PATH: process.env.PATH, WEIR_DATA: home.place('work') },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  expect(await child.stderr.text()).toBe('')
  expect(await child.exited).toBe(0)
})
