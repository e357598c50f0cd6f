import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Answer } from '../../api/answer.ts'
import { useResource } from '../../api/resource.ts'
import { Button, CodeBlock } from '../../components/button.tsx'
import { SelectField } from '../../components/field.tsx'
import { formatCount, visibleText } from '../../components/format.ts'
import { GrowingMarkdown } from '../../components/growing-markdown.tsx'
import { Table } from '../../components/table.tsx'
import { type Column, column } from '../../components/table-columns.tsx'
import { Failure, Loaded } from '../../components/view.tsx'
import { useApi } from '../../session.tsx'
import { type LoadedEvents, loadEvents, type ReplayEvent, ReplayPlayer } from './replay-player.ts'

type Pace = 'recorded' | 'fast' | 'instant'

/** Replays the events of a response that took this time. For one in progress, they are read until it ends. */
export function Replay({ path, seconds }: { readonly path: string; readonly seconds: number | null }) {
  const api = useApi()
  const events = useResource((signal) => loadEvents(api, path, signal), [api, path])
  // Recorded events have no times: they are spread over the duration of the response, at most a minute.
  const durationMs = Math.min(60, Math.max(2, seconds ?? 0)) * 1000
  return (
    <Loaded resource={events} lines={6}>
      {(loaded) => <Player loaded={loaded} durationMs={durationMs} />}
    </Loaded>
  )
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

/** The text of the events that have been played. */
function ReplayOutput({ answer }: { readonly answer: Answer }) {
  const { reasoning, text, toolCalls, failure } = answer
  return (
    <section class="stack replay-output" aria-label="Replayed output">
      {reasoning !== '' && (
        <div class="entry">
          <h2>Reasoning</h2>
          <GrowingMarkdown text={reasoning} />
        </div>
      )}
      {text !== '' && (
        <div class="entry role-assistant">
          <h2>assistant</h2>
          <GrowingMarkdown text={text} />
        </div>
      )}
      {toolCalls.map((call, index) => (
        <div class="entry" key={index}>
          <h2>
            Tool call <code>{visibleText(call.name)}</code>
          </h2>
          <CodeBlock code={visibleText(call.arguments)} label="arguments" />
        </div>
      ))}
      {failure && <Failure failure={failure} />}
    </section>
  )
}

type Row = { readonly index: number; readonly event: ReplayEvent }

/** Characters of the JSON of an event in its cell. */
const maxShown = 200

const columns: readonly Column<Row>[] = [
  column('index', 'No.', ({ index }) => formatCount(index), { align: 'right' }),
  column('name', 'Event', ({ event }) => <code>{visibleText(event.name)}</code>),
  column('data', 'Data', ({ event }) => (
    <code class="quiet">{visibleText(event.data.slice(0, maxShown))}</code>
  )),
]

/** The recorded events as they are. */
function EventTable({ events }: { readonly events: readonly ReplayEvent[] }) {
  const [open, setOpen] = useState(false)
  const rows = useMemo(() => events.map((event, index) => ({ event, index })), [events])
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Recorded events</summary>
      {open && (
        <Table label="Recorded events" columns={columns} rows={rows} rowKey={({ index }) => String(index)} />
      )}
    </details>
  )
}
