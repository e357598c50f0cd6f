import { expect, test } from 'bun:test'
import { SettingsError } from '../../../src/config/problem.ts'
import { temporaryHome } from './support/temporary-home.ts'

test('without a file and without variables the defaults apply', () => {
  using home = temporaryHome()
  expect(home.load()).toEqual({
    file: null,
    dataFolder: home.place('home/.local/share/weir'),
    settings: {
      host: '127.0.0.1',
      port: 9347,
      workers: 1,
      providers: {},
      models: [],
      retries: { attempts: 2 },
      breaker: { failures: 5, cooldown: 30_000 },
      limits: { requestsPerMinute: 6000, tokensPerMinute: 20_000_000, concurrentRequests: 10_000 },
      unsupportedParameters: 'reject',
      retention: { contentLog: 604_800_000 },
      background: { concurrency: 64, maxQueued: 1000 },
      compatibility: {
        openResponses: false,
        functionTools: false,
        toolCallFragments: false,
        logprobs: false,
        cacheWriteTokens: false,
      },
      log: 'requests',
      memory: { inFlight: 536_870_912 },
      maxBody: 33_554_432,
      cors: [],
      page: true,
      webhooks: [],
      alerts: { lowBalance: 1 },
    },
    warnings: [],
  })
})

test('every setting of the file overrides its default', () => {
  using home = temporaryHome({
    'work/weir.yaml': `
host: 0.0.0.0
port: 80
workers: 8
retries: { attempts: 0 }
breaker: { failures: 1, cooldown: 1.5m }
limits: { requests_per_minute: 1, tokens_per_minute: 2, concurrent_requests: 3 }
unsupported_parameters: drop
retention: { completions: 30d, responses: 12h, usage: 90d }
background: { concurrency: 4, max_queued: 20 }
compatibility: { open_responses: true, tool_call_fragments: true, logprobs: true, cache_write_tokens: true }
memory: { in_flight: 1GiB }
max_body: 1.5MiB
cors: [ 'https://app.example.com', '*' ]
tls: { cert: cert.pem, key: /etc/key.pem }
webhooks:
  - { name: alerts, url: 'https://example.com/hook', secret: whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3 }
alerts: { low_balance: 2.5 }
`,
  })
  expect(home.load().settings).toEqual({
    host: '0.0.0.0',
    port: 80,
    workers: 8,
    providers: {},
    models: [],
    retries: { attempts: 0 },
    breaker: { failures: 1, cooldown: 90_000 },
    limits: { requestsPerMinute: 1, tokensPerMinute: 2, concurrentRequests: 3 },
    unsupportedParameters: 'drop',
    retention: {
      completions: 2_592_000_000,
      responses: 43_200_000,
      usage: 7_776_000_000,
      contentLog: 604_800_000,
    },
    background: { concurrency: 4, maxQueued: 20 },
    compatibility: {
      openResponses: true,
      functionTools: false,
      toolCallFragments: true,
      logprobs: true,
      cacheWriteTokens: true,
    },
    log: 'requests',
    memory: { inFlight: 1_073_741_824 },
    maxBody: 1_572_864,
    cors: ['https://app.example.com', '*'],
    page: true,
    tls: { cert: home.place('work/cert.pem'), key: '/etc/key.pem' },
    webhooks: [
      {
        name: 'alerts',
        url: 'https://example.com/hook',
        secret: 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3',
      },
    ],
    alerts: { lowBalance: 2.5 },
  })
})

test('a flag overrides a variable, a variable the file, and the file the default', () => {
  using home = temporaryHome({ 'work/weir.yaml': 'port: 1001\nhost: file.test\n' })
  const environment = { WEIR_PORT: '1002', WEIR_HOST: 'variable.test' }
  const flags = { port: '1003', host: 'flag.test' }
  const address = (input: Parameters<typeof home.load>[0]) => {
    const { host, port } = home.load(input).settings
    return `${host}:${port}`
  }
  expect(address({})).toBe('file.test:1001')
  expect(address({ environment })).toBe('variable.test:1002')
  expect(address({ environment, flags })).toBe('flag.test:1003')
  expect(address({ environment: { WEIR_PORT: '', WEIR_HOST: '' } })).toBe('file.test:1001')
})

test('a flag overrides the number of workers of a variable, and that of the file', () => {
  using home = temporaryHome({ 'work/weir.yaml': 'workers: 2\n' })
  const environment = { WEIR_WORKERS: '3' }
  const workers = (input: Parameters<typeof home.load>[0]) => home.load(input).settings.workers
  expect([workers({}), workers({ environment })]).toEqual([2, 3])
  expect(workers({ environment, flags: { workers: '0' } })).toBe(0)
  const load = () => home.load({ flags: { workers: '257' } })
  expect(load).toThrow('--workers: must be a whole number from 0 to 256, not “257”.')
})

test('the settings file is the named one, else that of the folder, else that of the user', () => {
  using home = temporaryHome({
    'flag.yaml': 'port: 1',
    'work/variable.yaml': 'port: 2',
    'work/weir.yaml': 'port: 3',
    'xdg/weir/weir.yaml': 'port: 4',
    'home/.config/weir/weir.yaml': 'port: 5',
  })
  const environment = { WEIR_CONFIG: 'variable.yaml', XDG_CONFIG_HOME: home.place('xdg') }
  const { XDG_CONFIG_HOME } = environment
  const cwd = home.place('elsewhere')
  const port = (input: Parameters<typeof home.load>[0]) => home.load(input).settings.port
  expect(port({ environment, flags: { config: home.place('flag.yaml') } })).toBe(1)
  expect(port({ environment })).toBe(2)
  expect(port({ environment: { XDG_CONFIG_HOME } })).toBe(3)
  expect(port({ environment: { XDG_CONFIG_HOME }, cwd })).toBe(4)
  expect(port({ environment: { XDG_CONFIG_HOME: 'relative' }, cwd })).toBe(5)
  expect(home.load({ cwd }).file).toBe(home.place('home/.config/weir/weir.yaml'))
})

test('the data folder is the named one, else that of the user', () => {
  using home = temporaryHome()
  const environment = { WEIR_DATA: 'variable', XDG_DATA_HOME: home.place('xdg') }
  const folder = (input: Parameters<typeof home.load>[0]) => home.load(input).dataFolder
  expect(folder({ environment, flags: { data: 'flag' } })).toBe(home.place('work/flag'))
  expect(folder({ environment })).toBe(home.place('work/variable'))
  expect(folder({ environment: { XDG_DATA_HOME: home.place('xdg') } })).toBe(home.place('xdg/weir'))
})

test('on Windows the system folders are used', () => {
  using home = temporaryHome()
  const windows = { platform: 'win32', cwd: 'C:\\work', home: 'C:\\Users\\me' } as const
  const LOCALAPPDATA = 'C:\\Users\\me\\AppData\\Local'
  const folder = (environment: Record<string, string>) => home.load({ ...windows, environment }).dataFolder
  expect(folder({ LOCALAPPDATA })).toBe('C:\\Users\\me\\AppData\\Local\\weir')
  expect(folder({ LOCALAPPDATA, WEIR_DATA: 'D:\\weir' })).toBe('D:\\weir')
  expect(folder({})).toBe('C:\\Users\\me\\.local\\share\\weir')
})

test('a named settings file that does not exist is an error, and no other place is tried', () => {
  using home = temporaryHome({ 'work/weir.yaml': 'port: 3' })
  const load = () => home.load({ flags: { config: 'gone.yaml' } })
  expect(load).toThrow(SettingsError)
  expect(load).toThrow(
    `In ${home.place('work/gone.yaml')}: The file cannot be read: the file does not exist.`,
  )
})

test('an invalid port is rejected with its source', () => {
  using home = temporaryHome({ 'work/weir.yaml': 'port: 3' })
  const port = 'must be a whole number from 0 to 65535, not “.+”.'
  for (const text of ['x', '80a', '-1', '65536', '1.5', ' '])
    expect(() => home.load({ environment: { WEIR_PORT: text } })).toThrow(new RegExp(`^WEIR_PORT: ${port}$`))
  expect(() => home.load({ flags: { port: 'x' } })).toThrow(new RegExp(`^--port: ${port}$`))
})
