import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { ApiClient } from '../../api/client.ts'
import {
  generate,
  type GenerationCall,
  type GenerationRequest,
  type Parameters,
  type PlaygroundMessage,
} from '../../api/generate.ts'
import { useKept } from '../../kept.ts'

/** A message, and the answer of each model to it. */
export type Turn = {
  readonly id: number
  readonly message: PlaygroundMessage
  readonly calls: readonly GenerationCall[]
}

/** The conversation, in which each model sees its own answers. It is kept when the view is left, which stops its answers. */
export function useConversation(api: ApiClient, models: readonly string[], parameters: Parameters) {
  const [turns, setTurns] = useKept<readonly Turn[]>('playground.turns', [])
  const [busy, setBusy] = useState(false)
  const calls = useRef<readonly GenerationCall[]>([])
  const nextId = useRef((turns.at(-1)?.id ?? -1) + 1)
  const stop = () => calls.current.forEach((call) => call.stop())
  useEffect(() => stop, [])

  /** The requests that `send` sends. */
  const requestsFor = (message: PlaygroundMessage, earlier = turns): readonly GenerationRequest[] =>
    models.map((model, lane) => ({ model, messages: [...history(earlier, lane), message], parameters }))

  const send = (message: PlaygroundMessage, earlier: readonly Turn[] = turns) => {
    const started = requestsFor(message, earlier).map((request) => generate(api, request))
    calls.current = started
    setBusy(true)
    setTurns([...earlier, { id: nextId.current++, message, calls: started }])
    void Promise.all(started.map(({ done }) => done)).finally(() => {
      if (calls.current === started) setBusy(false)
    })
  }

  return {
    turns,
    busy,
    send,
    stop,
    requestsFor,
    /** Sends the last message again, with the models and parameters of now. */
    retry() {
      const last = turns.at(-1)
      if (last === undefined) return
      stop()
      send(last.message, turns.slice(0, -1))
    },
    clear() {
      stop()
      setTurns([])
    },
  }
}

/** The messages that the model of a lane has seen. Turns without an answer are not part of it. */
function history(turns: readonly Turn[], lane: number): readonly PlaygroundMessage[] {
  return turns.flatMap(({ message, calls }) => {
    const text = (calls[lane] ?? calls[0])?.answer.text ?? ''
    return text === '' ? [] : [message, { role: 'assistant' as const, text }]
  })
}

/** Pixels from the end within which a reader follows it. */
const nearEnd = 120

/** Keeps the end of the document in sight while it grows, unless the reader has scrolled up. */
export function useFollowEnd(): { readonly follow: () => void; readonly resume: () => void } {
  const following = useRef(true)
  useEffect(() => {
    let last = scrollY
    let lastHeight = 0
    const measure = () => {
      const { scrollHeight } = document.documentElement
      // The event may come after the document has grown, and one that shrinks moves its end up: only the reader scrolls up.
      if (scrollHeight - scrollY - innerHeight < nearEnd) following.current = true
      else if (scrollY < last && scrollHeight >= lastHeight) following.current = false
      last = scrollY
      lastHeight = scrollHeight
    }
    addEventListener('scroll', measure, { passive: true })
    return () => removeEventListener('scroll', measure)
  }, [])
  const follow = useCallback(() => {
    if (following.current) scrollTo(0, document.documentElement.scrollHeight)
  }, [])
  const resume = useCallback(() => {
    following.current = true
  }, [])
  return { follow, resume }
}
