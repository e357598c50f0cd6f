import { defaultSettings } from '../../config/defaults.ts'
import { exampleYaml } from '../../config/check-schema.ts'
import { SettingsFile } from '../../config/settings.ts'
import { type Fields, fieldsOf, isObject, textOf } from '../../lib/json/json.ts'
import { wrapped } from './page.ts'

/** Returns a weir.yaml with every setting: those that have a default with it, the others commented out. */
export function exampleFile(): string {
  return Object.entries(SettingsFile.properties)
    .map(([name, schema]) => settingLines(name, fieldsOf(schema), fieldsOf(defaultSettings)[name]).join('\n'))
    .join('\n\n')
}

function settingLines(name: string, schema: Fields, defaults: unknown): readonly string[] {
  const sentence = textOf(schema.description) ?? ''
  const written = writtenExamples[name]
  if (written !== undefined) return [...commentLines(sentence), ...disabled(written.split('\n'))]
  const { properties } = schema
  if (!isObject(properties)) return [...commentLines(sentence), ...valueLines(name, schema, defaults)]
  const [commentIndent, indent] = defaults === undefined ? ['', '  '] : ['  ', '']
  const nested = Object.entries(properties).flatMap(([field, property]) => [
    ...commentLines(textOf(fieldsOf(property).description) ?? '', commentIndent),
    ...valueLines(field, fieldsOf(property), fieldsOf(defaults)[field], indent).map(
      (line) => commentIndent + line,
    ),
  ])
  const heading = `${name}:`
  return [...commentLines(sentence), ...(defaults === undefined ? disabled([heading]) : [heading]), ...nested]
}

function valueLines(name: string, schema: Fields, defaults: unknown, indent = ''): readonly string[] {
  if (defaults !== undefined) return [`${indent}${name}: ${String(defaults)}`]
  return disabled([`${indent}${name}: ${exampleYaml(schema)}`])
}

function disabled(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `#${line}`)
}

const maxWidth = 100

function commentLines(text: string, indent = ''): readonly string[] {
  const prefix = `${indent}# `
  return wrapped(text, '', maxWidth - prefix.length)
    .split('\n')
    .map((line) => prefix + line)
}

/** The entries of lists and maps, which have no defaults to show. */
const writtenExamples: Readonly<Record<string, string>> = {
  providers: `providers:
  openai: {}
  anthropic:
    api_key: \${TEAM_ANTHROPIC_KEY}
    timeouts: { connect: 5s, first_byte: 2m, idle: 1m }
  gpu-box:
    kind: vllm
    base_url: http://10.0.0.5:8000/v1
    api: chat
    headers: { x-team: blue }
    discover: true
    concurrency: 4
    queue: { wait: 30s, length: 64 }
  azure:
    base_url: https://my-resource.openai.azure.com
    api_version: 2024-10-21
  vertex:
    project: my-project-123
    location: europe-west4
    credentials: service-account.json`,
  models: `models:
  # A model of the built-in catalog: only what differs.
  - slug: openai/gpt-6-luna
    enabled: true
    pricing: { input: 0.1, output: 0.5, cache_read: 0.01, cache_write: 0.125, input_audio: 0.1, request: 0, image: 0 }
  # A model that the catalog does not have: two routes, with failover between them.
  - slug: acme/river-7b
    display_name: River 7B
    author: acme
    released: 2026-01-31
    shutdown_date: 2027-01-31
    context_window: 131072
    max_output_tokens: 16384
    pricing:
      input: 0.25
      output: 2
      tiers: [{ above: 200000, input: 0.5, output: 4 }]
    price_changes:
      - { effective_from: 2027-01-01, pricing: { input: 0.5, output: 4 } }
    input_modalities: [text, image]
    output_modalities: [text]
    supported_parameters: [temperature, top_p, max_tokens, tools, tool_choice]
    supported_apis: [chat_completions, responses, messages]
    reasoning:
      supported_efforts: [none, low, high]
      default_effort: low
      default_enabled: true
      mandatory: false
    fast:
      strategy: model_variant
      target_slug: acme/river-7b-fast
      pricing: { input: 0.5, output: 4 }
      supported_parameters: [temperature]
    aliases: [river]
    affinity: session
    timeouts: { first_token: 10s }
    routes:
      - provider: gpu-box
        model: acme/River-7B
        weight: 3
        context_window: 32768
        on: [unavailable, rate_limited, timeout, context_length]
      - { provider: openai, model: river-7b, weight: 1, api: responses }
  - slug: acme/river-7b-fast
    variant_of: acme/river-7b
    routes: [{ provider: gpu-box, model: acme/River-7B-fast }]`,
}
