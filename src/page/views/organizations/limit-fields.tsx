import { useMemo, useState } from 'preact/hooks'
import type { BudgetPeriod, Limits, Provider } from '../../api/objects.ts'
import { FilterChip } from '../../components/button.tsx'
import { Combobox, type ComboboxOption } from '../../components/combobox.tsx'
import { Checkbox, SelectField, TextField } from '../../components/field.tsx'
import { useProviders } from '../provider-columns.tsx'
import {
  type CheckedField,
  type LimitDraft,
  problemOf,
  rateLimitLabels,
  rateLimits,
  toDraft,
  toLimitFields,
} from './limits.ts'

/** The state of the fields of limits, in the dialogs of organizations, projects and keys. */
type LimitForm = ReturnType<typeof useLimitForm>

/** Keeps the limits of something new, or of what is edited. */
export function useLimitForm(edited?: Limits) {
  const [draft, setDraft] = useState(() => toDraft(edited))
  return {
    draft,
    set: (changed: Partial<LimitDraft>) => setDraft((current) => ({ ...current, ...changed })),
    problem: (field: CheckedField) => problemOf(draft, field),
    /** The fields of a request; undefined if one is invalid. */
    fields: toLimitFields(draft),
  }
}

/** The fields of limits; `empty` says what an empty rate limit means. */
export function LimitFields({ form, empty }: { readonly form: LimitForm; readonly empty: string }) {
  const { draft, set } = form
  return (
    <>
      <BudgetFields form={form} />
      <fieldset class="field-row">
        <legend>Rate limits</legend>
        {rateLimits.map((field) => (
          <TextField
            key={field}
            label={rateLimitLabels[field]}
            inputMode="numeric"
            placeholder={empty}
            value={draft[field]}
            onInput={(text) => set({ [field]: text })}
            error={form.problem(field)}
          />
        ))}
      </fieldset>
      <ModelFields form={form} />
      <Checkbox
        label="Enabled: requests are accepted"
        checked={draft.enabled}
        onChange={(enabled) => set({ enabled })}
      />
    </>
  )
}

const periods: readonly { readonly value: BudgetPeriod; readonly label: string }[] = [
  { value: 'none', label: 'Never' },
  { value: 'day', label: 'Every day' },
  { value: 'week', label: 'Every week, on Monday' },
  { value: 'month', label: 'Every month' },
]

function BudgetFields({ form }: { readonly form: LimitForm }) {
  const { draft, set } = form
  return (
    <fieldset class="field-row">
      <legend>Budget</legend>
      <TextField
        label="Budget in USD"
        inputMode="decimal"
        placeholder="No budget"
        value={draft.budget}
        onInput={(budget) => set({ budget })}
        error={form.problem('budget')}
      />
      <SelectField
        label="Reset"
        value={draft.period}
        options={periods}
        onChange={(period) => set({ period })}
      />
      {draft.period !== 'none' && (
        <Combobox
          label="Time zone"
          value={draft.timeZone}
          options={timeZones()}
          onChange={(timeZone) => set({ timeZone })}
          error={form.problem('timeZone')}
        />
      )}
    </fieldset>
  )
}

/** The time zones that the browser knows. */
function timeZones(): readonly ComboboxOption[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')].map((value) => ({
    value,
  }))
}

const modelChoices = [
  { value: 'all', label: 'All models' },
  { value: 'some', label: 'Only these models' },
] as const

/** The allowed models: all, or a list of slugs, aliases and patterns. */
function ModelFields({ form }: { readonly form: LimitForm }) {
  const { models, allModels } = form.draft
  return (
    <div class="stack">
      <SelectField
        label="Models"
        value={allModels ? 'all' : 'some'}
        options={modelChoices}
        onChange={(choice) => form.set({ allModels: choice === 'all' })}
      />
      {!allModels && <ModelList models={models} onChange={(changed) => form.set({ models: changed })} />}
    </div>
  )
}

function ModelList(props: {
  readonly models: readonly string[]
  readonly onChange: (models: readonly string[]) => void
}) {
  const { models, onChange } = props
  const options = useModelOptions()
  const add = (model: string) => {
    const name = model.trim()
    if (name !== '' && !models.includes(name)) onChange([...models, name])
  }
  return (
    <>
      <Combobox
        label="Add a model"
        placeholder="openai/gpt-6-luna, or anthropic/*"
        freeText
        value=""
        options={options.filter(({ value }) => !models.includes(value))}
        onChange={add}
        hint="A slug, an alias, or a pattern in which * stands for any characters."
      />
      <p class="chips chosen">
        {models.length === 0 && <span class="badge warning">No model is allowed</span>}
        {models.map((model) => (
          <FilterChip
            key={model}
            name="Model"
            value={model}
            onClear={() => onChange(models.filter((other) => other !== model))}
          />
        ))}
      </p>
    </>
  )
}

/** Suggestions: the enabled models, and a pattern for each author. Without them, any text can be entered. */
function useModelOptions(): readonly ComboboxOption[] {
  const { value } = useProviders()
  return useMemo(() => modelOptions(value ?? []), [value])
}

function modelOptions(providers: readonly Provider[]): readonly ComboboxOption[] {
  const enabled = providers.flatMap(({ routes }) => routes.filter((route) => route.enabled))
  const slugs = new Set(enabled.map(({ model }) => model).toSorted((a, b) => a.localeCompare(b)))
  const authors = new Set([...slugs].map((slug) => slug.split('/')[0]))
  return [
    ...[...authors].map((author) => ({ value: `${author}/*`, detail: 'pattern' })),
    ...[...slugs].map((value) => ({ value })),
  ]
}
