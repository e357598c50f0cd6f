import { expect, test } from 'bun:test'
import { models } from '../../src/cli/models.ts'
import type { World } from '../../src/cli/command.ts'

async function run(args: string[], environment: World['environment']) {
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

test('weir models lists what is on, with prices, context and routes', async () => {
  const { code, text, complaints } = await run([], { OPENAI_API_KEY: 'sk-secret-of-openai' })
  expect(code).toBe(0)
  expect(complaints).toEqual([])
  expect(text).toMatch(/^openai\/gpt-4o-mini +0\.15 +0\.6 +0\.075 +128,000 +openai:gpt-4o-mini$/m)
  expect(text).not.toContain('groq/')
  expect(text).not.toContain('openai/text-embedding')
  expect(text).not.toContain('secret')
})

test('weir models --all says why the others are off', async () => {
  const { text } = await run(['--all'], { OPENAI_API_KEY: 'sk-x' })
  expect(text).toMatch(/^groq\/llama-3\.3-70b-versatile .*off: Set GROQ_API_KEY/m)
  expect(text).toMatch(/^openai\/text-embedding-3-small .*off: It is not made to hold a chat/m)
  expect(text).toMatch(/^openai\/gpt-4o-mini .* on$/m)
})

test('weir models --json is a list of models with their routes', async () => {
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
