import { requestBytes } from './connection.ts'
import type { Load } from './load.ts'

/** Who is asked: an address, a key, and the model. */
export type Place = { readonly url: string; readonly key: string; readonly model: string }

type Work = Pick<Load, 'url' | 'request' | 'ending'>

/** A question that wants its answer whole. */
export function wholeChat(place: Place): Work {
  return chat(place, {})
}

/** The same question, answered as a stream. */
export function streamedChat(place: Place): Work {
  return { ...chat(place, { stream: true }), ending: 'data: [DONE]' }
}

const content = 'How high is the river at the old mill today, and how much has it risen since the rain began?'

function chat({ url: base, key, model }: Place, more: object): Work {
  const url = new URL('/v1/chat/completions', base)
  const body = JSON.stringify({ model, ...more, messages: [{ role: 'user', content }] })
  return { url, request: requestBytes(url, { authorization: `Bearer ${key}` }, body) }
}
