/** The values of a model's `supported_parameters`. */
export const parameters = [
  'temperature',
  'top_p',
  'max_tokens',
  'n',
  'stop',
  'tools',
  'tool_choice',
  'response_format',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
  'reasoning_effort',
  'parallel_tool_calls',
] as const
export type Parameter = (typeof parameters)[number]

/**
 * Names that occur in lists of supported parameters from other sources and have no meaning here: `max_tokens`
 * stands for both spellings, and the other fields are never rejected for a model.
 */
export const ignoredParameterNames = [
  'max_completion_tokens',
  'logprobs',
  'top_logprobs',
  'user',
  'service_tier',
] as const

/** The parameters among these names, each once. */
export function toParameters(list: Iterable<string>): ReadonlySet<Parameter> {
  const names = new Set(list)
  if (names.has('max_completion_tokens')) names.add('max_tokens')
  return new Set(parameters.filter((parameter) => names.has(parameter)))
}

/** The APIs that a model can serve: the values of its `supported_apis`. */
export const modelApis = ['chat_completions', 'responses', 'messages', 'completions', 'embeddings'] as const
export type ModelApi = (typeof modelApis)[number]

/** The APIs by which a conversation is continued. A model that serves one of them can serve all. */
export const conversationApis = [
  'chat_completions',
  'responses',
  'messages',
] as const satisfies readonly ModelApi[]

/** The path of each API. */
export const apiPaths: Readonly<Record<ModelApi, string>> = {
  chat_completions: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  completions: '/v1/completions',
  embeddings: '/v1/embeddings',
}
