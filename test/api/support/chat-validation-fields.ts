import { type Accepted, type Refused, missing, wrongType, wrongWord } from './chat-validation-case.ts'

const largest = Number.MAX_SAFE_INTEGER

const ranges = [
  { name: 'temperature', kind: 'decimal', least: 0, most: 2, beyond: [-0.001, 2.001] },
  { name: 'top_p', kind: 'decimal', least: 0, most: 1, beyond: [-0.001, 1.001] },
  { name: 'frequency_penalty', kind: 'decimal', least: -2, most: 2, beyond: [-2.001, 2.001] },
  { name: 'presence_penalty', kind: 'decimal', least: -2, most: 2, beyond: [-2.001, 2.001] },
  { name: 'max_tokens', kind: 'integer', least: 1, most: largest, beyond: [0, largest + 1] },
  { name: 'max_completion_tokens', kind: 'integer', least: 1, most: largest, beyond: [0, largest + 1] },
  { name: 'n', kind: 'integer', least: 1, most: largest, beyond: [0, largest + 1] },
  { name: 'seed', kind: 'integer', least: -largest, most: largest, beyond: [-largest - 1, largest + 1] },
  { name: 'top_logprobs', kind: 'integer', least: 0, most: 20, beyond: [-1, 21] },
] as const

const choices = {
  tool_choice: ['auto', 'none', 'required'],
  reasoning_effort: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
  service_tier: ['auto', 'default', 'flex', 'priority'],
  performance_mode: ['standard', 'fast'],
}

const booleans = ['stream', 'logprobs', 'parallel_tool_calls', 'store']
const objects = ['stream_options', 'logit_bias', 'metadata', 'trace', 'response_format']
const lists = ['tools', 'tags']

const optional = [
  ...ranges.map(({ name }) => name),
  ...Object.keys(choices),
  ...booleans,
  ...objects,
  ...lists,
]

/** The fields of one value, at the edge of what they may be. */
export const accepted: readonly Accepted[] = [
  ...ranges.flatMap(({ name, least, most }) => [allowed(name, least), allowed(name, most)]),
  ...Object.entries(choices).flatMap(([name, words]) => words.map((word) => allowed(name, word))),
  ...booleans.flatMap((name) => [allowed(name, true), allowed(name, false)]),
  ...[...optional, 'stop', 'user'].map((name) => allowed(name, null)),
  allowed('temperature', -0),
  allowed('max_tokens', 5.0),
  allowed('user', ''),
  allowed('model', ''),
]

/** The same just beyond the edge. */
export const refused: readonly Refused[] = [
  ...ranges.flatMap(({ name, kind, beyond }) => [
    wrong(name, beyond[0], `${kind}_below_min_value`),
    wrong(name, beyond[1], `${kind}_above_max_value`),
    wrong(name, Infinity, `${kind}_above_max_value`),
    wrong(name, '1', wrongType),
    wrong(name, [1], wrongType),
  ]),
  ...ranges.filter(({ kind }) => kind === 'integer').map(({ name }) => wrong(name, 1.5, wrongType)),
  ...Object.keys(choices).flatMap((name) => [wrong(name, 'Auto', wrongWord), wrong(name, 1, wrongType)]),
  ...booleans.flatMap((name) => [wrong(name, 'true', wrongType), wrong(name, 1, wrongType)]),
  ...objects.flatMap((name) => [wrong(name, 'text', wrongType), wrong(name, [], wrongType)]),
  ...[...lists, 'messages'].flatMap((name) => [wrong(name, 'text', wrongType), wrong(name, {}, wrongType)]),
  ...['model', 'user'].map((name) => wrong(name, 5, wrongType)),
  ...['model', 'messages'].map((name) => wrong(name, null, wrongType)),
  ...['model', 'messages'].map((name): Refused => [`no ${name}`, { [name]: undefined }, name, missing]),
  wrong('messages', [], 'empty_array'),
]

function allowed(name: string, value: unknown): Accepted {
  return [`${name} ${JSON.stringify(value)}`, { [name]: value }]
}

function wrong(name: string, value: unknown, code: string): Refused {
  const shown = value === Infinity ? '1e999' : JSON.stringify(value)
  return [`${name} ${shown}`, { [name]: value }, name, code]
}
