import { expect, test } from 'bun:test'
import { problemsOf, temporaryHome } from './support/temporary-home.ts'

test('a variable is replaced from the environment in any string', () => {
  using home = temporaryHome({
    'work/weir.yaml': `
host: '\${HOST}'
providers:
  box: { kind: vllm, base_url: 'http://\${HOST}:\${PORT}/v1', headers: { x-team: 'a \${TEAM} b' } }
models:
  - { slug: 'acme/\${TEAM}', aliases: ['\${TEAM}'] }
`,
  })
  const environment = { HOST: 'gpu.test', PORT: '8000', TEAM: 'research' }
  const { settings } = home.load({ environment })
  expect(settings.host).toBe('gpu.test')
  expect(settings.providers.box?.base_url).toBe('http://gpu.test:8000/v1')
  expect(settings.providers.box?.headers).toEqual({ 'x-team': 'a research b' })
  expect(settings.models[0]?.aliases).toEqual(['research'])
})

test('a value is inserted unchanged: a variable in it is not replaced', () => {
  using home = temporaryHome({ 'work/weir.yaml': "host: '${A}'" })
  expect(home.load({ environment: { A: '${B}$&', B: 'no' } }).settings.host).toBe('${B}$&')
})

test('a doubled dollar escapes a brace, and a single one is literal elsewhere', () => {
  using home = temporaryHome({ 'work/weir.yaml': "host: 'a$b $${NAME} $5'" })
  expect(home.load().settings.host).toBe('a$b ${NAME} $5')
})

test('an unset variable is an error that names the setting and the variable', () => {
  const yaml = "providers: { azure: { base_url: '${URL}', api_key: 'x${AZURE_KEY}' } }"
  expect(problemsOf(yaml, { AZURE_KEY: '' }).problems).toEqual([
    'providers.azure.base_url | uses the environment variable URL, which is not set.',
    'providers.azure.api_key | uses the environment variable AZURE_KEY, which is not set.',
  ])
})

test('an invalid name of a variable is rejected', () => {
  const message = 'contains a ${…} that is not a variable name. Write ${NAME}, or $${ for a literal ${.'
  for (const text of ['${}', '${A:-b}', '${A B}', '${A', '${1A}'])
    expect(problemsOf(`host: '${text}'`, { A: 'x' }).problems).toEqual([`host | ${message}`])
})

test('a variable without braces is literal, with a warning that shows no part of a key', () => {
  using home = temporaryHome({
    'work/weir.yaml': `
host: $HOST_NAME
providers:
  one: { api_key: $ONE_KEY, headers: { authorization: 'Bearer $TOKEN', x-note: 'a $5 and a$b' } }
  two: { api_key: 'sk-$SECRET', headers: { x: 'y $SECRET' } }
`,
  })
  const { settings, warnings } = home.load({ environment: { TOKEN: 'x' } })
  expect(settings.host).toBe('$HOST_NAME')
  expect(warnings.map(({ path, message }) => [path, /write (\S+)\.$/.exec(message)?.[1]])).toEqual([
    ['host', '${HOST_NAME}'],
    ['providers.one.api_key', '${ONE_KEY}'],
    ['providers.one.headers.authorization', '${TOKEN}'],
    ['providers.two.headers.x', '${NAME}'],
  ])
  expect(JSON.stringify(warnings)).not.toContain('SECRET')
})
