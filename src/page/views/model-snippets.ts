import { defaultParameters } from '../api/generate.ts'
import type { Model } from './model.tsx'
import { bodySnippets, exampleMessage, type Snippet, snippetsOf } from './playground/snippets.ts'

type Apis = Pick<Model, 'supported_apis'>

/** Whether the playground can talk to a model. */
export function isConversational({ supported_apis: apis }: Apis): boolean {
  return apis.length === 0 || apis.includes('chat_completions') || apis.includes('responses')
}

/** A first request to a model as code, in an API that it serves; empty if there is none for its APIs. */
export function modelSnippets(model: Apis & Pick<Model, 'slug'>, origin: string): readonly Snippet[] {
  const { slug, supported_apis: apis } = model
  if (isConversational(model)) {
    const api = apis.length === 0 || apis.includes('chat_completions') ? 'chat' : 'responses'
    const parameters = { ...defaultParameters, api } as const
    return snippetsOf({ model: slug, messages: [exampleMessage], parameters }, origin)
  }
  const { text } = exampleMessage
  if (apis.includes('embeddings')) return bodySnippets('/v1/embeddings', { model: slug, input: text }, origin)
  if (apis.includes('completions'))
    return bodySnippets('/v1/completions', { model: slug, prompt: text, max_tokens: 100 }, origin)
  return []
}
