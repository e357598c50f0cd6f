// The provider of the benchmark, in its own process: bun test/bench/upstream.ts. Its responses are configured by a
// GET of /behave, whose query is a Behaviour; the path of a request selects the protocol.
import { jsonReply, type ScriptedReply, startUpstream, streamReply } from './scripted-upstream.ts'
import { dialectOf } from './replies.ts'

/** How the provider responds from now on. */
export type Behaviour = {
  readonly reply: 'whole' | 'stream' | 'tools'
  readonly chunks: number
  /** Milliseconds between two chunks; 0: all at once. */
  readonly interval: number
  /** How many streams must be open before the second chunk of any. */
  readonly together: number
}

let behaviour: Behaviour = { reply: 'whole', chunks: 0, interval: 0, together: 1 }
const made = new Map<string, ScriptedReply>()
const nothing = { first: jsonReply({}) }

if (import.meta.main) {
  const { url } = startUpstream(answerTo)
  console.log(`listens on ${url}`)
}

function answerTo(head: string): ScriptedReply {
  const path = head.slice(head.indexOf(' ') + 1, head.indexOf(' ', 5))
  if (path.startsWith('/behave?')) return behave(new URLSearchParams(path.slice(8)))
  const known = made.get(path)
  if (known) return known
  const answer = answerOf(path)
  made.set(path, answer)
  return answer
}

function behave(query: URLSearchParams): ScriptedReply {
  const number = (name: string) => Number(query.get(name))
  const reply = query.get('reply') as Behaviour['reply']
  behaviour = { reply, chunks: number('chunks'), interval: number('interval'), together: number('together') }
  made.clear()
  return nothing
}

function answerOf(path: string): ScriptedReply {
  const { reply, chunks, interval, together } = behaviour
  // Some gateways escape the colon of a Gemini path.
  const dialect = dialectOf(decodeURIComponent(path))
  if (dialect === undefined) return nothing
  if (reply === 'whole') return { first: jsonReply(dialect.whole()) }
  const pieces = streamReply(reply === 'tools' ? dialect.tools(chunks) : dialect.frames(chunks))
  if (interval === 0) return { first: Buffer.concat(pieces) }
  const [first = new Uint8Array(), ...rest] = pieces
  return { first, paced: { chunks: rest, intervalMs: interval, minOpenStreams: together } }
}
