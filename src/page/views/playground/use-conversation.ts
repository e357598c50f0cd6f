import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiClient } from '../../api/client.ts'
import { generate, type GenerationCall } from '../../generation/generate.ts'
import type { Parameters, PlaygroundMessage } from '../../generation/request-body.ts'

/** A message, and the answer of each model to it. */
export type Turn = {
  readonly id: number
  readonly message: PlaygroundMessage
  readonly models: readonly string[]
  readonly calls: readonly GenerationCall[]
}

/** The conversation, in which each model sees its own answers. */
export function useConversation(api: ApiClient, models: readonly string[], parameters: Parameters) {
  const [turns, setTurns] = useState<readonly Turn[]>([])
  const [busy, setBusy] = useState(false)
  const calls = useRef<readonly GenerationCall[]>([])
  const nextId = useRef(0)
  const stop = () => calls.current.forEach((call) => call.stop())
  useEffect(() => stop, [])

  const send = (message: PlaygroundMessage, earlier: readonly Turn[] = turns) => {
    const started = models.map((model, lane) =>
      generate(api, { model, messages: [...history(earlier, lane), message], parameters }),
    )
    calls.current = started
    setBusy(true)
    setTurns([...earlier, { id: nextId.current++, message, models, calls: started }])
    void Promise.all(started.map(({ done }) => done)).finally(() => {
      if (calls.current === started) setBusy(false)
    })
  }

  return {
    turns,
    busy,
    send,
    stop,
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
export function history(turns: readonly Turn[], lane: number): readonly PlaygroundMessage[] {
  return turns.flatMap(({ message, calls }) => {
    const text = (calls[lane] ?? calls[0])?.answer.text ?? ''
    return text === '' ? [] : [message, { role: 'assistant' as const, text }]
  })
}
