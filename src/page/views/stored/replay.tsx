import { useEffect, useMemo, useState } from 'preact/hooks'
import { useResource } from '../../api/use-resource.ts'
import { Button } from '../../components/button.tsx'
import { SelectField } from '../../components/field.tsx'
import { formatCount } from '../../components/format.ts'
import { Loaded } from '../../components/states.tsx'
import { useApi } from '../../session/session.tsx'
import { EventTable } from './event-table.tsx'
import { loadEvents, type LoadedEvents } from './load-events.ts'
import { ReplayOutput } from './replay-output.tsx'
import { ReplayPlayer } from './replay-player.ts'
import type { StoredResponse } from './stored-response.ts'

type Pace = 'recorded' | 'fast' | 'instant'

/** Replays the events of a response. For one in progress, they are read until it ends. */
export function Replay({ path, response }: { readonly path: string; readonly response: StoredResponse }) {
  const api = useApi()
  const events = useResource((signal) => loadEvents(api, path, signal), [api, path])
  return (
    <Loaded resource={events} lines={6}>
      {(loaded) => <Player loaded={loaded} durationMs={durationOf(response)} />}
    </Loaded>
  )
}

/** Milliseconds. Recorded events have no times: they are spread over the duration of the response, at most a minute. */
function durationOf({ created_at, completed_at }: StoredResponse): number {
  const seconds = completed_at === null ? 0 : completed_at - created_at
  return Math.min(60, Math.max(2, seconds)) * 1000
}

function Player({ loaded, durationMs }: { readonly loaded: LoadedEvents; readonly durationMs: number }) {
  const { events, complete } = loaded
  const [pace, setPace] = useState<Pace>('recorded')
  const { player, restart } = usePlayer(loaded, durationMs * shares[pace])
  return (
    <div class="stack">
      <div class="replay-controls">
        <Button
          label={player.playing ? 'Pause' : 'Play'}
          icon={player.playing ? 'stop' : 'playground'}
          kind="primary"
          disabled={player.finished}
          onClick={() => (player.playing ? player.pause() : player.play())}
        />
        <Button label="Restart" icon="retry" onClick={restart} />
        <SelectField label="Pace" value={pace} options={paceOptions(durationMs)} onChange={setPace} />
        <p class="quiet number">
          {formatCount(player.played)} of {formatCount(events.length)} events
        </p>
      </div>
      {!complete && <p class="notice">The response has more events than the page loads.</p>}
      <ReplayOutput answer={player.answer} />
      <EventTable events={events} />
    </div>
  )
}

const shares: Readonly<Record<Pace, number>> = { recorded: 1, fast: 0.25, instant: 0 }

function paceOptions(durationMs: number) {
  return [
    { value: 'recorded', label: `Over ${formatCount(durationMs / 1000)} s` },
    { value: 'fast', label: 'Four times as fast' },
    { value: 'instant', label: 'At once' },
  ] as const
}

/** A player that has begun; another one for other events, another pace, and after each restart. */
function usePlayer({ events }: LoadedEvents, durationMs: number) {
  const [attempt, setAttempt] = useState(0)
  const [, setVersion] = useState(0)
  const player = useMemo(() => new ReplayPlayer(events, durationMs), [events, durationMs, attempt])
  useEffect(() => {
    const unsubscribe = player.answer.subscribe(() => setVersion((version) => version + 1))
    player.play()
    return () => {
      unsubscribe()
      player.pause()
    }
  }, [player])
  return { player, restart: () => setAttempt((count) => count + 1) }
}
