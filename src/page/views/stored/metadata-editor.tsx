import { useRef, useState } from 'preact/hooks'
import { type ApiFailure, toFailure } from '../../api/failure.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'
import { Failure } from '../../components/states.tsx'
import { useToast } from '../../components/toast.tsx'
import { useApi } from '../../session/session.tsx'
import { type DraftPair, readDraft, toDraft } from './metadata-draft.ts'
import type { Metadata } from './metadata-list.tsx'

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
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
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
  const [saving, setSaving] = useState(false)
  const [problem, setProblem] = useState<string | undefined>()
  const [failure, setFailure] = useState<ApiFailure | undefined>()
  const save = async () => {
    const read = readDraft(pairs)
    setProblem('problem' in read ? read.problem : undefined)
    if ('problem' in read || saving) return
    setSaving(true)
    try {
      await api.send('POST', path, { metadata: read.metadata })
      toast('The metadata was saved.')
      onSaved()
      onClose()
    } catch (error) {
      setFailure(toFailure(error))
      setSaving(false)
    }
  }
  return { save, saving, problem, failure }
}
