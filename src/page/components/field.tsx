import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { useShortcut } from '../shortcuts.tsx'

/** The attributes that connect a control to the label, hint and error of its field. */
type FieldControl = {
  readonly id: string
  readonly 'aria-describedby'?: string
  readonly 'aria-invalid'?: boolean
}

type FieldProps = {
  readonly label: string
  readonly hint?: ComponentChildren
  readonly error?: string | undefined
}

/** A labelled control with a hint or an error below it. */
export function Field(
  props: FieldProps & { readonly children: (control: FieldControl) => ComponentChildren },
) {
  const id = useId()
  const { label, hint, error, children } = props
  const described = error !== undefined || hint !== undefined
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        ...(described && { 'aria-describedby': `${id}-note` }),
        ...(error !== undefined && { 'aria-invalid': true }),
      })}
      {described && (
        <p id={`${id}-note`} class={error === undefined ? 'hint' : 'hint error'}>
          {error ?? hint}
        </p>
      )}
    </div>
  )
}

type TextProps = FieldProps & {
  readonly value: string
  readonly onInput: (value: string) => void
  readonly placeholder?: string
}

/** A field with one line of text. */
export function TextField(
  props: TextProps & {
    readonly type?: 'text' | 'password' | 'search'
    readonly inputMode?: 'decimal' | 'numeric'
    readonly name?: string
  },
) {
  const { label, hint, error, onInput, type = 'text', ...input } = props
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <input
          {...input}
          {...control}
          // The attribute types tie each type to its roles; these have none.
          type={type as 'text'}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

/** A field that searches a list as one types; `/` leads to it. A view has one. */
export function SearchField(props: Omit<TextProps, 'label'> & { readonly what: string }) {
  const { what, ...field } = props
  useShortcut('/', `Search the ${what}`, () =>
    document.querySelector<HTMLInputElement>('input[type=search]')?.focus(),
  )
  return <TextField label="Search" type="search" {...field} />
}

/** A field with several lines of text. */
export function TextArea(props: TextProps) {
  const { label, hint, error, onInput, ...area } = props
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <textarea
          rows={3}
          {...area}
          {...control}
          spellcheck={false}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

/** A field with a few choices. */
export function SelectField<Value extends string>(props: {
  readonly label: string
  readonly value: Value
  readonly options: readonly { readonly value: Value; readonly label: string }[]
  readonly onChange: (value: Value) => void
}) {
  return (
    <Field label={props.label}>
      {(control) => (
        <select
          {...control}
          value={props.value}
          // The options are of this type.
          onChange={(event) => props.onChange(event.currentTarget.value as Value)}
        >
          {props.options.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

/** A box that is checked or not. */
export function Checkbox(props: {
  readonly label: string
  readonly checked: boolean
  readonly onChange: (checked: boolean) => void
}) {
  return (
    <label class="checkbox">
      <input
        type="checkbox"
        checked={props.checked}
        onChange={(event) => props.onChange(event.currentTarget.checked)}
      />
      <span>{props.label}</span>
    </label>
  )
}
