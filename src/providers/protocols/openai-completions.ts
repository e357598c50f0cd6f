import { parameters } from '../../domain/generation/parameters.ts'
import type { Generation } from '../../domain/generation/request.ts'
import { type Fields, fieldsOf, isObject, withoutEmpty } from '../../lib/json/json.ts'
import { nameSet } from '../../lib/text.ts'
import { parseError } from './error.ts'
import type { Dialect } from './openai-chat/dialect.ts'
import { parseResponse, streamParser, type StreamState } from './openai-chat/parse-response.ts'
import { withoutWithheld } from './openai-chat/withheld.ts'
import { type Body, collectWarnings, type Protocol, type Target, type Warn } from './protocol.ts'

const conversationParameters = nameSet(
  'tools tool_choice parallel_tool_calls response_format reasoning_effort',
)

/** The responses are those of chat completions, but for the text of a choice. */
const dialect: Dialect = { name: 'completions' }

/** The protocol of text completions, which continue a prompt instead of a conversation. */
export const openaiCompletions: Protocol<StreamState> = {
  name: 'openai-completions',
  parameters: new Set(parameters.filter((name) => !conversationParameters.has(name))),
  render: collectWarnings(renderRequest),
  parse: (body) => parseResponse(dialect, isObject(body) ? toChat(body) : body),
  stream: streamParser(dialect, toChat),
  parseError,
}

/** That of Ollama, which generates without an end where the limit is 0. */
export const ollamaCompletions: Protocol<StreamState> = {
  ...openaiCompletions,
  minOutputTokens: 1,
  render(generation, target, warn) {
    if (generation.maxTokens !== 0) return openaiCompletions.render(generation, target, warn)
    warn('`max_tokens` was raised to 1, the minimum of ollama.')
    return openaiCompletions.render({ ...generation, maxTokens: 1 }, target, warn)
  },
}

/** A response or a chunk in the form of chat completions. Its service tier is not known to the API of completions. */
function toChat(body: Fields): Fields {
  if (!Array.isArray(body.choices)) return body
  const choices = body.choices.map((item) => {
    const { text, ...entry } = fieldsOf(item)
    return { ...entry, message: { content: text }, delta: { content: text } }
  })
  return { ...body, choices, service_tier: undefined }
}

/** Fields that only the gateway sets, in any case of their letters; a prompt of another form would not be counted. */
const gatewayFields = nameSet(
  'model prompt prompt_embeds messages suffix echo logprobs best_of n max_tokens max_completion_tokens',
  'stream stream_options stop temperature top_p seed frequency_penalty presence_penalty logit_bias user',
  'service_tier',
)

/** The field of the generation that has to be set for the field of the request to be sent. */
const generationFields: Readonly<Record<string, keyof Generation>> = {
  n: 'choices',
  best_of: 'choices',
  stop: 'stop',
  temperature: 'temperature',
  top_p: 'topP',
  seed: 'seed',
  frequency_penalty: 'frequencyPenalty',
  presence_penalty: 'presencePenalty',
  logit_bias: 'logitBias',
}

/** Renders the body of a completions request: as the caller wrote it, except for what the gateway sets or has removed. */
function renderRequest(generation: Generation, target: Target, warn: Warn): Body {
  const source = generation.source?.body ?? {}
  const { prompt, echo, logprobs } = source
  return withoutEmpty({
    ...withoutWithheld(generation.extras, warn, gatewayFields),
    model: target.model,
    prompt: unwrapped(prompt),
    suffix: generation.suffix,
    echo,
    logprobs,
    ...sentFields(source, generation),
    max_tokens: generation.maxTokens,
    user: generation.user,
    ...(target.stream && { stream: true, stream_options: { include_usage: true } }),
  })
}

/** Some providers accept only one text, which some clients send as a list. */
function unwrapped(prompt: unknown): unknown {
  if (!Array.isArray(prompt) || prompt.length !== 1) return prompt
  return typeof prompt[0] === 'string' ? prompt[0] : prompt
}

function sentFields(source: Fields, generation: Generation): Body {
  const sent = Object.entries(generationFields).filter(([, field]) => generation[field] !== undefined)
  return Object.fromEntries(sent.map(([name]) => [name, source[name]]))
}
