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
