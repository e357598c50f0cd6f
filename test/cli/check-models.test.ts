import { expect, test } from 'bun:test'
import type { CheckReport } from '../../src/cli/check/report.ts'
import { temporaryHome } from '../unit/config/support/temporary-home.ts'
import { runWeir } from './support/run-weir.ts'

test('weir check names the models whose providers offer none of their APIs', async () => {
  const model = (slug: string, supported_apis: string[], providers = ['groq']) => {
    return { slug, supported_apis, routes: providers.map((provider) => ({ provider, model: 'm' })) }
  }
  const settings = {
    providers: { groq: { api_key: 'sk-x' }, openai: { api_key: 'sk-x' } },
    models: [
      model('acme/prompts', ['completions']),
      model('acme/vectors', ['embeddings', 'completions']),
      model('acme/chat', ['chat_completions', 'completions']),
      model('acme/mixed', ['completions'], ['groq', 'openai']),
    ],
  }
  using home = temporaryHome({ 'weir.yaml': JSON.stringify(settings) })
  const { out, code } = await runWeir(['check', '--json'], home.place(''))
  expect(code).toBe(0)
  expect((JSON.parse(out) as CheckReport).models?.without_service).toEqual([
    { slug: 'acme/prompts', reason: 'Its providers do not offer /v1/completions.' },
    { slug: 'acme/vectors', reason: 'Its providers do not offer /v1/embeddings or /v1/completions.' },
  ])
})
