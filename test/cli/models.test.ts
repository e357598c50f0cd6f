import { describe, expect, test } from 'bun:test'
import { command as models } from '../../src/cli/commands/models.ts'
import type { CliContext } from '../../src/cli/context.ts'

async function run(args: string[], environment: CliContext['environment']) {
  const printed: string[] = []
  const complaints: string[] = []
  const code = await models.run(args, {
    environment,
    cwd: '/nonexistent',
    home: '/nonexistent',
    out: (text) => void printed.push(text),
    err: (text) => void complaints.push(text),
  })
  return { code, text: printed.join('\n'), complaints }
}

test('weir models lists the enabled models, with prices, context and routes', async () => {
  const { code, text, complaints } = await run([], { OPENAI_API_KEY: 'sk-secret-of-openai' })
  expect(code).toBe(0)
  expect(complaints).toEqual([])
  expect(text).toMatch(/^openai\/gpt-4o-mini +0\.15 +0\.6 +0\.075 +128,000 +openai:gpt-4o-mini +2027-01-14$/m)
  expect(text).not.toContain('groq/')
  expect(text).not.toContain('openai/gpt-image')
  expect(text).not.toContain('secret')
})

test('weir models --all gives the reason why the others are disabled', async () => {
  const { text } = await run(['--all'], { OPENAI_API_KEY: 'sk-x' })
  expect(text).toMatch(/^groq\/llama-3\.1-8b-instant .*disabled: Set GROQ_API_KEY/m)
  expect(text).toMatch(/^openai\/gpt-image-1\.5 .*disabled: It is not a chat model/m)
  expect(text).toMatch(/^openai\/gpt-4o-mini .* enabled$/m)
})

test('weir models --json prints a list of models with their routes', async () => {
  const list = JSON.parse((await run(['--json'], { OPENAI_API_KEY: 'sk-x' })).text)
  const model = list.find(({ slug }: { slug: string }) => slug === 'openai/gpt-4o-mini')
  expect(model).toMatchObject({
    object: 'model',
    routes: [{ provider: 'openai', model: 'gpt-4o-mini' }],
    enabled: true,
    reason: null,
  })
  expect(list.every(({ enabled }: { enabled: boolean }) => enabled)).toBe(true)
})

describe('weir models filters its list', () => {
  const environment = { OPENAI_API_KEY: 'sk-x', GROQ_API_KEY: 'gsk_x', OLLAMA_HOST: 'http://127.0.0.1:1' }
  const slugs = async (...args: string[]): Promise<string[]> =>
    JSON.parse((await run([...args, '--json'], environment)).text).map(({ slug }: { slug: string }) => slug)

  test('by a part of a name in any case', async () => {
    const found = await slugs('GPT-4o')
    expect(found).toContain('openai/gpt-4o-mini')
    expect(found.filter((slug) => !slug.includes('gpt-4o'))).toEqual([])
  })

  test('by provider, by author, and by all of them together', async () => {
    const ofGroq = await slugs('--provider', 'groq')
    expect(ofGroq.length).toBeGreaterThan(2)
    expect((await slugs('--provider', 'openai')).filter((slug) => ofGroq.includes(slug))).toEqual([])
    const byOpenai = await slugs('--author', 'OpenAI')
    expect(byOpenai.length).toBeGreaterThan(10)
    expect(byOpenai.filter((slug) => !/^(groq\/)?openai\//.test(slug))).toEqual([])
    expect(await slugs('120b', '--author', 'openai', '--provider', 'groq')).toEqual([
      'groq/openai/gpt-oss-120b',
    ])
  })

  test('and names the way out where the result is empty', async () => {
    expect((await run(['no-such-model'], environment)).text).toBe('No models match.')
    expect((await run(['gpt-image-1.5'], environment)).text).toBe(
      'No enabled models match, but 1 matching model is disabled. To see why, run: weir models --all',
    )
    expect(await slugs('no-such-model')).toEqual([])
  })
})
