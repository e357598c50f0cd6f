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
 * Words that lists of supported parameters of other origin hold. They say nothing here: `max_tokens` stands for
 * both spellings, and the other fields are never refused for a model.
 */
export const ignoredParameterNames = [
  'max_completion_tokens',
  'logprobs',
  'top_logprobs',
  'user',
  'service_tier',
] as const

/** The words of a list that say something, each once. */
export function toParameters(list: Iterable<string>): ReadonlySet<Parameter> {
  const names = new Set(list)
  if (names.has('max_completion_tokens')) names.add('max_tokens')
  return new Set(parameters.filter((parameter) => names.has(parameter)))
}
