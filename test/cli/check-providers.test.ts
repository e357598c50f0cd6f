import { expect, test } from 'bun:test'
import { temporaryHome } from '../unit/config/support/temporary-home.ts'
import { callWeir } from './support/run-weir.ts'

async function check(settings: object, ...flags: string[]) {
  using home = temporaryHome({ 'work/weir.yaml': JSON.stringify(settings) })
  return await callWeir(['check', ...flags], home.place('work'))
}

test('the address of Azure AI Foundry ends with /models, which is no endpoint', async () => {
  const base_url = 'https://acme.services.ai.azure.com/models'
  const { code, out } = await check({
    providers: { azure: { base_url, api_key: 'sk-canary' } },
    models: [{ slug: 'acme/river', routes: [{ provider: 'azure', model: 'river' }] }],
  })
  expect(code).toBe(0)
  expect(out).toContain(base_url)
  expect(out).not.toContain('Warnings')
})
