import { Field, SelectField } from '../../components/field.tsx'

/** When a key is to expire: as it is now, never, after a lifetime, or at a time in the zone of the reader. */
export type ExpiryDraft = { readonly choice: ExpiryChoice; readonly at: string }

const lifetimes = [
  { value: 'never', label: 'Never' },
  { value: '2h', label: 'In two hours' },
  { value: '1d', label: 'In a day' },
  { value: '30d', label: 'In 30 days' },
  { value: '90d', label: 'In 90 days' },
  { value: '365d', label: 'In a year' },
  { value: 'at', label: 'At a time' },
] as const

type ExpiryChoice = 'keep' | (typeof lifetimes)[number]['value']

/** The expiry of a new key. */
export const newExpiry: ExpiryDraft = { choice: 'never', at: '' }

/** Returns the fields of a request that set the expiry; undefined while the time is missing. */
export function expiryFields({ choice, at }: ExpiryDraft) {
  if (choice === 'keep') return {}
  if (choice === 'never') return { expires_at: null }
  if (choice !== 'at') return { expires_in: choice }
  const time = new Date(at)
  return Number.isNaN(time.getTime()) ? undefined : { expires_at: time.toISOString() }
}

/** The fields of the expiry; `now` says when an existing key expires. */
export function ExpiryFields(props: {
  readonly draft: ExpiryDraft
  readonly now: string | undefined
  readonly onChange: (draft: ExpiryDraft) => void
}) {
  const { draft, now, onChange } = props
  const kept = now === undefined ? [] : [{ value: 'keep' as const, label: `As now: ${now}` }]
  return (
    <div class="field-row">
      <SelectField<ExpiryChoice>
        label="Expires"
        value={draft.choice}
        options={[...kept, ...lifetimes]}
        onChange={(choice) => onChange({ ...draft, choice })}
      />
      {draft.choice === 'at' && (
        <Field label="Time">
          {(control) => (
            <input
              {...control}
              type="datetime-local"
              required
              value={draft.at}
              onInput={(event) => onChange({ ...draft, at: event.currentTarget.value })}
            />
          )}
        </Field>
      )}
    </div>
  )
}
