import { useRef, useState } from 'preact/hooks'
import { parseJson } from '../../../lib/json/json.ts'
import { useChange } from '../../api/resource.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'
import { useToast } from '../../components/toast.tsx'
import { Failure } from '../../components/view.tsx'
import { useApi } from '../../session.tsx'
import { type Metadata, metadataValue } from './summary.ts'

type EditorProps = {
  /** The address of the completion. */
  readonly path: string
  readonly metadata: Metadata
  readonly onClose: () => void
  readonly onSaved: () => void
}

/** Edits the metadata of a completion, which is replaced as a whole. */
export function MetadataEditor(props: EditorProps) {
  const { pairs, add, change, remove } = useDraft(props.metadata)
  const { save, saving, problem, failure } = useSave(props, pairs)
  return (
    <Dialog title="Edit metadata" onClose={props.onClose}>
      <form class="stack" onSubmit={save}>
        {pairs.length === 0 && <p class="quiet">No metadata.</p>}
        {pairs.map((pair) => (
          <PairFields
            key={pair.id}
            pair={pair}
            onChange={(changed) => change(pair.id, changed)}
            onRemove={() => remove(pair.id)}
          />
        ))}
        {problem !== undefined && (
          <p class="hint error" role="alert">
            {problem}
          </p>
        )}
        {failure && <Failure failure={failure} />}
        <div class="dialog-actions">
          <Button label="Add a pair" icon="plus" onClick={add} />
          <Button label="Save" kind="primary" type="submit" disabled={saving} />
        </div>
      </form>
    </Dialog>
  )
}

function PairFields(props: {
  readonly pair: DraftPair
  readonly onChange: (changed: Partial<DraftPair>) => void
  readonly onRemove: () => void
}) {
  const { pair, onChange, onRemove } = props
  return (
    <div class="pair">
      <TextField label="Key" value={pair.key} onInput={(key) => onChange({ key })} />
      <TextField
        label={pair.isJson ? 'Value as JSON' : 'Value'}
        value={pair.value}
        onInput={(value) => onChange({ value })}
      />
      <Button label="Remove the pair" icon="trash" iconOnly onClick={onRemove} />
    </div>
  )
}

function useDraft(metadata: Metadata) {
  const [pairs, setPairs] = useState(() => toDraft(metadata))
  const next = useRef(pairs.length)
  return {
    pairs,
    add: () => setPairs((all) => [...all, { id: next.current++, key: '', value: '', isJson: false }]),
    change: (id: number, changed: Partial<DraftPair>) =>
      setPairs((all) => all.map((pair) => (pair.id === id ? { ...pair, ...changed } : pair))),
    remove: (id: number) => setPairs((all) => all.filter((pair) => pair.id !== id)),
  }
}

function useSave({ path, onClose, onSaved }: EditorProps, pairs: readonly DraftPair[]) {
  const api = useApi()
  const toast = useToast()
  const [problem, setProblem] = useState<string>()
  const { busy, failure, run } = useChange()
  const save = (event: Event) => {
    event.preventDefault()
    const read = readDraft(pairs)
    setProblem('problem' in read ? read.problem : undefined)
    if ('problem' in read) return
    run(async () => {
      await api.send('POST', path, { metadata: read.metadata })
      toast('The metadata was saved.')
      onSaved()
      onClose()
    })
  }
  return { save, saving: busy, problem, failure }
}

/** A pair while it is edited; a value that is not text is edited as JSON. */
type DraftPair = {
  readonly id: number
  readonly key: string
  readonly value: string
  readonly isJson: boolean
}

/** The pairs of this metadata, to be edited. */
function toDraft(metadata: Metadata): readonly DraftPair[] {
  return Object.entries(metadata).map(([key, value], id) => ({
    id,
    key,
    value: metadataValue(value),
    isJson: typeof value !== 'string',
  }))
}

/** The metadata of these pairs, or what is wrong with them. */
function readDraft(
  pairs: readonly DraftPair[],
): { readonly metadata: Metadata } | { readonly problem: string } {
  const keys = pairs.map(({ key }) => key)
  if (keys.includes('')) return { problem: 'Each pair requires a key.' }
  const repeated = keys.find((key, index) => keys.indexOf(key) !== index)
  if (repeated !== undefined) return { problem: `The key “${repeated}” is used twice.` }
  const entries: [string, unknown][] = []
  for (const { key, value, isJson } of pairs) {
    const parsed = isJson ? parseJson(value) : value
    if (parsed === undefined) return { problem: `The value of “${key}” must be JSON.` }
    entries.push([key, parsed])
  }
  return { metadata: Object.fromEntries(entries) }
}
