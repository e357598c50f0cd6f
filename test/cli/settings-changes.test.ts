import { expect, test } from 'bun:test'
import { settingsChanges } from '../../src/cli/serve/reload.ts'
import { toSettings } from '../../src/config/defaults.ts'
import type { SettingsFile } from '../../src/config/settings.ts'

function changes(before: SettingsFile, after: SettingsFile) {
  return settingsChanges(toSettings(before, null), toSettings(after, null))
}

const routes = [{ provider: 'box', model: 'm' }]

test('equivalent settings have no changes, also where a default is now explicit', () => {
  expect(changes({}, { retries: { attempts: 2 } })).toEqual({ applied: [], atNextStart: [] })
})

test('changes are named by their paths in the file, and never with a value', () => {
  const before: SettingsFile = {
    limits: { requests_per_minute: 5 },
    cors: ['https://canary.test'],
    providers: { Box: { kind: 'vllm', api_key: 'canary' }, old: { kind: 'vllm' } },
    models: [
      { slug: 'acme/one', routes },
      { slug: 'acme/two', routes },
    ],
  }
  const after: SettingsFile = {
    limits: { requests_per_minute: 6 },
    unsupported_parameters: 'drop',
    retention: { completions: '30d' },
    providers: { Box: { kind: 'vllm', api_key: 'canary2' }, new: { kind: 'vllm' } },
    models: [
      { slug: 'acme/two', aliases: ['canary'], routes },
      { slug: 'acme/three', routes },
    ],
  }
  const { applied: inForce, atNextStart: later } = changes(before, after)
  expect(later).toEqual([])
  expect(inForce.toSorted()).toEqual([
    'cors',
    'limits.requests_per_minute',
    'models.acme/one (removed)',
    'models.acme/three (added)',
    'models.acme/two.aliases (added)',
    'providers.Box.api_key',
    'providers.new (added)',
    'providers.old (removed)',
    'retention.completions (added)',
    'unsupported_parameters',
  ])
})

test('changes that require a restart are reported separately', () => {
  const tls = { cert: 'c.pem', key: 'k.pem' }
  expect(changes({ port: 1 }, { port: 2, host: '0.0.0.0', tls, max_body: '1MiB' })).toEqual({
    applied: ['max_body'],
    atNextStart: ['host', 'port', 'tls (added)'],
  })
})
