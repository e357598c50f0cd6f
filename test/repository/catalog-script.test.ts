import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { directProviders } from '../../src/cli/catalog/direct-providers.ts'
import { withRoutes } from '../../src/config/catalog.ts'
import type { ModelDetails } from '../../src/config/model-details.ts'

const folder = await mkdtemp(`${tmpdir()}/weir-catalog-`)
afterAll(() => rm(folder, { recursive: true }))

type Source = Record<string, unknown>

function source(id: string, fields: Source = {}): Source {
  return {
    id,
    name: id.toUpperCase(),
    release_date: '2026-01-02',
    reasoning: false,
    temperature: true,
    tool_call: true,
    limit: { context: 1000, output: 100 },
    modalities: { input: ['text', 'pdf'], output: ['text'] },
    cost: { input: 0.1, output: 0.3 },
    ...fields,
  }
}

/** Runs the script on a file with these models, by provider; the other providers have one plain model each. */
async function run(models: Record<string, Source[]>) {
  const file: Record<string, unknown> = {}
  for (const { source: name } of directProviders) {
    const list = models[name] ?? [source('plain')]
    file[name] = { models: Object.fromEntries(list.map((model) => [String(model.id), model])) }
  }
  await Bun.write(`${folder}/api.json`, JSON.stringify(file))
  const out = `${folder}/catalog.json`
  const script = `${import.meta.dir}/../../src/build/catalog.ts`
  const flags = ['--snapshot', '2026-01-03', '--commit', 'abc', '--out', out]
  const child = Bun.spawn([process.execPath, script, `${folder}/api.json`, ...flags], {
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const complaint = await child.stderr.text()
  if ((await child.exited) !== 0) return { complaint, text: '', find: () => undefined }
  const text = await Bun.file(out).text()
  const found = modelsIn(text)
  return { complaint, text, find: (slug: string) => found.find((model) => model.slug === slug) }
}

function modelsIn(text: string): readonly ModelDetails[] {
  const written: { models: ModelDetails[] } = JSON.parse(text)
  return written.models.map(withRoutes)
}

describe('the catalog script', () => {
  test('converts the fields of the source', async () => {
    const tiers = [{ tier: { size: 500 }, input: 0.2, output: 0.6 }]
    const cost = { input: 0.1, output: 0.3, cache_read: 0.01, cache_write: 0, tiers }
    const { find, text } = await run({ openai: [source('gpt-x', { cost })] })
    expect(find('openai/gpt-x')).toEqual({
      slug: 'openai/gpt-x',
      display_name: 'GPT-X',
      released: '2026-01-02',
      context_window: 1000,
      max_output_tokens: 100,
      pricing: {
        input: 0.1,
        output: 0.3,
        cache_read: 0.01,
        tiers: [{ above: 500, input: 0.2, output: 0.6 }],
      },
      input_modalities: ['text', 'file'],
      supported_parameters: find('openai/gpt-x')?.supported_parameters,
      routes: [{ provider: 'openai', model: 'gpt-x' }],
    })
    expect(find('openai/gpt-x')?.supported_parameters).toContain('logit_bias')
    expect(find('openai/gpt-x')?.supported_parameters).not.toContain('reasoning_effort')
    expect(JSON.parse(text)).toMatchObject({
      snapshot: '2026-01-03',
      source: expect.stringContaining('commit abc'),
    })
    expect(text.split('\n').filter((line) => line.includes('"slug"')).length).toBe(11)
  })

  test('omits deprecated models and models without text output, and marks those that embed', async () => {
    const picture = { modalities: { input: ['text'], output: ['image'] } }
    const { find } = await run({
      openai: [
        source('old', { status: 'deprecated' }),
        source('painter', picture),
        source('vectors', { cost: { input: 0.1, output: 0 } }),
        source('new'),
      ],
    })
    expect(find('openai/old')).toBeUndefined()
    expect(find('openai/painter')).toBeUndefined()
    expect(find('openai/vectors')).toMatchObject({ supported_apis: ['embeddings'], supported_parameters: [] })
    expect(find('openai/vectors')).not.toHaveProperty('enabled')
    expect(find('openai/new')).not.toHaveProperty('enabled')
  })

  test('has the author and the output where they are not those of the slug and text', async () => {
    const both = { modalities: { input: ['text'], output: ['text', 'image'] } }
    const { find } = await run({
      openai: [source('artist', both)],
      groq: [source('groq/own'), source('lab/open')],
    })
    expect(find('openai/artist')).toMatchObject({ output_modalities: ['text', 'image'] })
    expect(find('openai/artist')).not.toHaveProperty('author')
    expect(find('groq/groq/own')).not.toHaveProperty('author')
    expect(find('groq/lab/open')).toMatchObject({ author: 'lab' })
    expect(find('groq/lab/open')).not.toHaveProperty('output_modalities')
  })

  test('names a hosted model after its host and its author', async () => {
    const { find } = await run({ togetherai: [source('Qwen/Qwen9')] })
    expect(find('together/Qwen/Qwen9')).toMatchObject({
      author: 'Qwen',
      routes: [{ provider: 'together', model: 'Qwen/Qwen9' }],
    })
  })

  test('omits the route that the slug names', async () => {
    const { text } = await run({ togetherai: [source('Qwen/Qwen9')], google: [source('gemini-x')] })
    const lineOf = (slug: string) => text.split('\n').find((line) => line.includes(`"slug":"${slug}"`))
    expect(lineOf('together/Qwen/Qwen9')).not.toContain('routes')
    expect(lineOf('google/gemini-x')).toContain('"routes":[{"provider":"gemini","model":"gemini-x"}]')
  })

  const options = (...list: Source[]) => ({ reasoning: true, temperature: false, reasoning_options: list })
  const effort = (...values: string[]) => ({ type: 'effort', values })
  const always = { default_enabled: true, mandatory: true }
  const cases: [string, string, Source, Source][] = [
    [
      'openai',
      'gpt-5',
      options(effort('minimal', 'low')),
      { supported_efforts: ['minimal', 'low'], ...always },
    ],
    [
      'openai',
      'gpt-5.4-mini',
      options(effort('none', 'low')),
      {
        supported_efforts: ['none', 'low'],
        default_effort: 'none',
        default_enabled: false,
        mandatory: false,
      },
    ],
    [
      'openai',
      'gpt-5.5',
      options(effort('none', 'low')),
      { supported_efforts: ['none', 'low'], default_enabled: true, mandatory: false },
    ],
    [
      'openai',
      'o9-pro',
      options(effort('high')),
      { supported_efforts: ['high'], default_effort: 'high', ...always },
    ],
    [
      'anthropic',
      'claude-9',
      options({ type: 'budget_tokens', min: 1024 }),
      { supported_efforts: ['none', 'low', 'medium', 'high'], mandatory: false },
    ],
    [
      'google',
      'gemini-9-pro',
      options({ type: 'budget_tokens', min: 128 }),
      { supported_efforts: ['low', 'medium', 'high'], ...always },
    ],
    [
      'togetherai',
      'a/toggle',
      options({ type: 'toggle' }),
      { supported_efforts: ['none', 'medium'], mandatory: false },
    ],
    [
      'groq',
      'a/words',
      options(effort('none', 'default')),
      { supported_efforts: ['none', 'medium'], mandatory: false },
    ],
    ['mistral', 'fixed', options(), { supported_efforts: [], ...always }],
  ]
  test.each(cases)('derives how %s %s reasons', async (provider, id, fields, expected) => {
    const { text } = await run({ [provider]: [source(id, fields)] })
    const facts = modelsIn(text).find(({ routes }) => routes?.[0]?.model === id)
    expect<unknown>(facts?.reasoning).toEqual(expected)
    const reasons = (facts?.reasoning?.supported_efforts.length ?? 0) > 0
    expect(facts?.supported_parameters?.includes('reasoning_effort')).toBe(reasons)
  })

  test('omits a parameter that the model or its family rejects', async () => {
    const { find } = await run({
      openai: [source('o3', options(effort('low'))), source('quiet', { tool_call: false })],
      anthropic: [source('claude-9', { temperature: false })],
      xai: [source('grok-9', { reasoning: true })],
    })
    expect(find('openai/o3')?.supported_parameters).not.toContain('temperature')
    expect(find('openai/o3')?.supported_parameters).not.toContain('stop')
    expect(find('openai/quiet')?.supported_parameters).not.toContain('tools')
    expect(find('openai/quiet')?.supported_parameters).not.toContain('parallel_tool_calls')
    expect(find('anthropic/claude-9')?.supported_parameters).not.toContain('top_p')
    expect(find('anthropic/claude-9')?.supported_parameters).toContain('stop')
    expect(find('xai/grok-9')?.supported_parameters).not.toContain('presence_penalty')
  })

  test('turns a priority tier into the fast mode, and not a fast mode with a header of its own', async () => {
    const mode = (body: Source) => ({
      experimental: { modes: { fast: { cost: { input: 1 }, provider: { body } } } },
    })
    const { find } = await run({
      openai: [source('gpt-x', mode({ service_tier: 'priority' }))],
      anthropic: [source('claude-x', mode({ speed: 'fast' }))],
    })
    const fast = { strategy: 'service_tier', service_tier: 'priority', pricing: { input: 1 } }
    expect<unknown>(find('openai/gpt-x')?.fast).toEqual(fast)
    expect(find('anthropic/claude-x')).not.toHaveProperty('fast')
  })

  test('rejects an unexpected file with the place of the error', async () => {
    const { complaint } = await run({ xai: [source('grok-x', { limit: { context: 'large', output: 1 } })] })
    expect(complaint).toContain('xai.models.grok-x/limit/context')
  })
})
