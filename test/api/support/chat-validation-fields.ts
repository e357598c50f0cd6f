import {
  type ValidCase,
  type InvalidCase,
  missingParameter,
  invalidType,
  invalidValue,
} from './chat-validation-case.ts'

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
export const accepted: readonly ValidCase[] = [
  ...ranges.flatMap(({ name, least, most: max }) => [allowed(name, least), allowed(name, max)]),
  ...Object.entries(choices).flatMap(([name, words]) => words.map((word) => allowed(name, word))),
  ...booleans.flatMap((name) => [allowed(name, true), allowed(name, false)]),
  ...[...optional, 'stop', 'user'].map((name) => allowed(name, null)),
  allowed('temperature', -0),
  allowed('max_tokens', 5.0),
  allowed('user', ''),
  allowed('model', ''),
]

/** The same just beyond the edge. */
export const refused: readonly InvalidCase[] = [
  ...ranges.flatMap(({ name, kind, beyond }) => [
    wrong(name, beyond[0], `${kind}_below_min_value`),
    wrong(name, beyond[1], `${kind}_above_max_value`),
    wrong(name, Infinity, `${kind}_above_max_value`),
    wrong(name, '1', invalidType),
    wrong(name, [1], invalidType),
  ]),
  ...ranges.filter(({ kind }) => kind === 'integer').map(({ name }) => wrong(name, 1.5, invalidType)),
  ...Object.keys(choices).flatMap((name) => [wrong(name, 'Auto', invalidValue), wrong(name, 1, invalidType)]),
  ...booleans.flatMap((name) => [wrong(name, 'true', invalidType), wrong(name, 1, invalidType)]),
  ...objects.flatMap((name) => [wrong(name, 'text', invalidType), wrong(name, [], invalidType)]),
  ...[...lists, 'messages'].flatMap((name) => [
    wrong(name, 'text', invalidType),
    wrong(name, {}, invalidType),
  ]),
  ...['model', 'user'].map((name) => wrong(name, 5, invalidType)),
  ...['model', 'messages'].map((name) => wrong(name, null, invalidType)),
  ...['model', 'messages'].map((name): InvalidCase => [
    `no ${name}`,
    { [name]: undefined },
    name,
    missingParameter,
  ]),
  wrong('messages', [], 'empty_array'),
]

function allowed(name: string, value: unknown): ValidCase {
  return [`${name} ${JSON.stringify(value)}`, { [name]: value }]
}

function wrong(name: string, value: unknown, code: string): InvalidCase {
  const shown = value === Infinity ? '1e999' : JSON.stringify(value)
  return [`${name} ${shown}`, { [name]: value }, name, code]
}
