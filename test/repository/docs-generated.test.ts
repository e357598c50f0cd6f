import { describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { generatePage, pages } from '../../src/build/docs.ts'
import { exampleFile } from '../../src/build/docs/example-file.ts'
import { fillRegions } from '../../src/build/docs/page.ts'
import { settingRows } from '../../src/build/docs/setting-rows.ts'
import { toSettings } from '../../src/config/defaults.ts'
import { SettingsFile } from '../../src/config/settings.ts'
import { fieldsOf, isObject } from '../../src/lib/json/json.ts'
import { silentLog } from '../../src/lib/log.ts'
import { createModelRegistry } from '../../src/gateway/models/model-registry.ts'
import { configureProviders } from '../../src/providers/config/configure-providers.ts'
import { kinds } from '../../src/providers/kinds/kinds.ts'
import { streamReply } from '../support/chat-fixtures.ts'
import { chatRequest, startScenario } from '../support/scenario.ts'
import { temporaryHome } from '../unit/config/support/temporary-home.ts'
import { projectFolder, sourceFiles } from '../support/source.ts'

describe('a generated page', () => {
  test.each(pages.map((page) => [page.path, page] as const))('%s is up to date', async (path, page) => {
    const { current, generated } = await generatePage(page)
    if (generated !== current) throw new Error(`${path} is not up to date: run “bun run docs”.`)
  })

  test('keeps what is written by hand, and must have each region once', () => {
    const text = 'a\n\n<!-- generated: one -->\nold\n<!-- end -->\n\nb\n'
    const filled = 'a\n\n<!-- generated: one -->\n\nnew $& text\n\n<!-- end -->\n\nb\n'
    expect(fillRegions(text, { one: 'new $& text' })).toBe(filled)
    expect(fillRegions(filled, { one: 'new $& text' })).toBe(filled)
    expect(() => fillRegions(text, {})).toThrow('“one”')
    expect(() => fillRegions(text, { one: '', two: '' })).toThrow('“two”')
  })
})

type Block = { readonly name: string; readonly yaml: string }

/** The blocks of the documentation that are a weir.yaml: one of its settings stands at their top. */
async function configurations(): Promise<readonly Block[]> {
  const docs = await Array.fromAsync(new Bun.Glob('docs/**/*.md').scan({ cwd: projectFolder }))
  const texts = await Promise.all(
    ['README.md', ...docs.toSorted()].map(async (path) => ({
      path: path.replaceAll('\\', '/'),
      text: await Bun.file(`${projectFolder}/${path}`).text(),
    })),
  )
  return texts.flatMap(({ path, text }) =>
    [...text.matchAll(/^```ya?ml[^\n]*\n(.*?)^```$/gms)].flatMap((match) => {
      const yaml = match[1] ?? ''
      const line = text.slice(0, match.index).split('\n').length
      const names = Object.keys(fieldsOf(Bun.YAML.parse(yaml)))
      const isWeir = names.some((name) => name in SettingsFile.properties)
      // The page of clients has settings of tools, whose file is named above the block.
      const [, file = 'weir.yaml'] = /`([^`\n]+)`:\n\n$/.exec(text.slice(0, match.index)) ?? []
      return isWeir && file.endsWith('weir.yaml') ? [{ name: `${path}:${line}`, yaml }] : []
    }),
  )
}

const blocks = await configurations()

/** A value for every variable that a block uses, and the keys of all providers. */
function environmentFor(yaml: string): Record<string, string> {
  const used = [...yaml.matchAll(/\$\{([A-Z_]+)\}/g)].map((match) => match[1] ?? '')
  const keys = Object.values(kinds).flatMap((kind) => ('protocol' in kind ? kind.keyVariables : []))
  const secret = { WEIR_WEBHOOK_SECRET: `whsec_${'0'.repeat(32)}` }
  return { ...Object.fromEntries([...used, ...keys].map((name) => [name, 'sk-test'])), ...secret }
}

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})
const serviceAccount = JSON.stringify({
  type: 'service_account',
  client_email: 'weir@my-project-123.iam.gserviceaccount.com',
  private_key: privateKey,
  private_key_id: '1',
  token_uri: 'https://oauth2.googleapis.com/token',
})

/** Loads a weir.yaml as the server does, with its providers and models, and returns what is wrong with it. */
function load(yaml: string) {
  using home = temporaryHome({ 'work/weir.yaml': yaml, 'work/service-account.json': serviceAccount })
  const environment = environmentFor(yaml)
  const { settings, warnings } = home.load({ environment })
  const providers = configureProviders(settings, environment)
  const models = createModelRegistry(settings, providers, silentLog).current()
  const slugs = new Set(settings.models.filter(({ enabled }) => enabled !== false).map(({ slug }) => slug))
  return {
    settings,
    configured: providers.configured,
    problems: [...warnings, ...providers.problems, ...models.problems],
    // A provider that is not running lists no models.
    disabled: models.all.flatMap(({ slug, disabled }) =>
      slugs.has(slug) && disabled !== undefined && !disabled.includes('does not list it')
        ? [`${slug}: ${disabled}`]
        : [],
    ),
  }
}

describe('a weir.yaml of the documentation is valid', () => {
  test.each(blocks.map(({ name, yaml }) => [name, yaml] as const))('%s', (_, yaml) => {
    const { settings, problems, configured, disabled } = load(yaml)
    expect(problems).toEqual([])
    expect(disabled).toEqual([])
    const routed = settings.models.flatMap(({ routes = [] }) => routes.map(({ provider }) => provider))
    const names = [...Object.keys(settings.providers), ...routed]
    expect(names.filter((name) => !configured.has(name))).toEqual([])
  })

  test('every kind of provider has an example', () => {
    const ofProviders = blocks.filter(({ name }) => name.startsWith('docs/providers.md'))
    const used = ofProviders.flatMap(({ yaml }) =>
      Object.entries(load(yaml).settings.providers).map(([name, { kind = name }]) => kind),
    )
    expect(Object.keys(kinds).filter((kind) => !used.includes(kind))).toEqual([])
  })
})

describe('the complete example', () => {
  test('has the defaults of all settings', () => {
    expect(load(exampleFile()).settings).toEqual(toSettings({}, null))
  })

  test('is valid with every setting that is commented out, and has each one', () => {
    const yaml = withAllSettings(exampleFile())
    expect(load(yaml).problems).toEqual([])
    const written = namesIn(Bun.YAML.parse(yaml))
    const all = settingRows(fieldsOf(SettingsFile), { path: '', defaults: {}, required: false })
    const names = all.map(({ path }) => path.split('.').at(-1)?.replace('[]', '') ?? '')
    // The two forms of `fast` exclude each other.
    const missing = names.filter((name) => name !== '' && name !== 'service_tier' && !written.has(name))
    expect(missing).toEqual([])
  })
})

/**
 * Returns the file with the settings that are commented out: their `#` is the first character of the line, and is not
 * followed by a single space as in a sentence.
 */
function withAllSettings(file: string): string {
  return file.replaceAll(/^( *)#(?! \S)/gm, '$1')
}

test('every setting has a description', () => {
  const rows = settingRows(fieldsOf(SettingsFile), { path: '', defaults: {}, required: false })
  const undescribed = rows.filter(({ path, description }) => path !== '' && !/^[A-Z`].*\.$/.test(description))
  expect(undescribed.map(({ path }) => path)).toEqual([])
  expect(rows.length).toBeGreaterThan(60)
})

test('the page of settings names every variable that the program reads, and no other', async () => {
  const page = await Bun.file(`${projectFolder}/docs/configuration.md`).text()
  const program = (await sourceFiles('src')).filter(({ path }) => !path.startsWith('src/build/'))
  const source = program.map(({ text }) => text).join('\n')
  const variables = (text: string) => new Set(text.match(/\b(WEIR|OTEL)_[A-Z_]*[A-Z]\b/g))
  const read = variables(source)
  expect([...read].filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  // The exporter of OpenTelemetry reads this one itself.
  expect([...variables(page)].filter((name) => !read.has(name))).toEqual(['OTEL_EXPORTER_OTLP_HEADERS'])
})

test('the page of metrics names every metric that a gateway reports, with its labels', async () => {
  const page = await Bun.file(`${projectFolder}/docs/metrics.md`).text()
  const rows = [...page.matchAll(/^\| `(\w+)` +\| (\w+) +\| ([^|]+) \|/gm)]
  const labelsByMetric = new Map(
    rows.map(([, name = '', , labels = '']) => [name, [...labels.matchAll(/\w+/g)].map(([label]) => label)]),
  )
  await using scenario = await startScenario(streamReply())
  await (await scenario.app.chat({ ...chatRequest, stream: true })).text()
  await scenario.app.request('/nowhere')
  const text = await (await scenario.app.request('/metrics')).text()
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  expect(samples.length).toBeGreaterThan(50)
  const wrong = samples.filter((sample) => {
    const [, name = '', labels = ''] = /^(\w+)(?:\{(.*)\})? /.exec(sample) ?? []
    const known = labelsByMetric.get(name) ?? labelsByMetric.get(name.replace(/_(bucket|sum|count)$/, ''))
    const used = [...labels.matchAll(/(\w+)="/g)].map((match) => match[1] ?? '')
    return known === undefined || used.some((label) => label !== 'le' && !known.includes(label))
  })
  expect(wrong).toEqual([])
})

function namesIn(value: unknown): Set<string> {
  if (Array.isArray(value)) return new Set(value.flatMap((item) => [...namesIn(item)]))
  if (!isObject(value)) return new Set()
  return new Set(Object.entries(value).flatMap(([name, part]) => [name, ...namesIn(part)]))
}
