import { expect, test } from 'bun:test'
import { checkSchema } from '../../src/config/check-schema.ts'
import type { SettingsProblem } from '../../src/config/problem.ts'
import { SettingsFile } from '../../src/config/settings.ts'
import { parseApiKey } from '../../src/domain/accounting/api-key.ts'
import { projectFolder } from '../support/source.ts'

type System = {
  readonly adapter: string
  readonly params: { readonly base_url: string; readonly api_key: string }
}

async function read(file: string): Promise<unknown> {
  return Bun.YAML.parse(await Bun.file(`${projectFolder}/test/failoverbench/${file}`).text())
}

test('the settings for Failover Bench are valid, with a model and a fallback for each scenario', async () => {
  const problems: SettingsProblem[] = []
  const settings = await read('weir.yaml')
  if (!checkSchema(SettingsFile, settings, problems)) throw new Error(JSON.stringify(problems))
  const [healthy, ...scenarios] = settings.models ?? []
  expect(healthy?.slug).toBe('failoverbench/fb-ok')
  expect(scenarios.map(({ slug }) => /^failoverbench\/fb-s(\d\d)-/.exec(slug)?.[1])).toEqual(
    Array.from({ length: 16 }, (_, index) => String(index + 1).padStart(2, '0')),
  )
  for (const { slug, routes = [] } of scenarios) {
    const [first, fallback] = routes.map(({ model }) => model)
    expect([`failoverbench/${first}`, fallback?.slice(0, 5)]).toEqual([slug, 'fb-ok'])
  }
})

test('the system for Failover Bench is the gateway with these settings, and has a key that Weir accepts', async () => {
  const { adapter, params } = (await read('system.yaml')) as System
  const { port } = (await read('weir.yaml')) as SettingsFile
  expect([adapter, new URL(params.base_url).port]).toEqual(['endpoint', String(port)])
  expect(parseApiKey(params.api_key)).toBeDefined()
})
