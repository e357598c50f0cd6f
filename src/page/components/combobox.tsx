import { useId, useState } from 'preact/hooks'
import { Field } from './field.tsx'

/** An entry of a combobox: `value` is what is chosen, `detail` is shown beside it. */
export type ComboboxOption = { readonly value: string; readonly detail?: string }

/** More matches than this are not shown: a person types on. */
const maxShown = 100

type ComboboxProps = {
  readonly label: string
  readonly value: string
  readonly options: readonly ComboboxOption[]
  readonly onChange: (value: string) => void
  readonly placeholder?: string
  readonly hint?: string
  readonly error?: string | undefined
  /** Whether Enter takes the text as it is, unless the arrow keys have selected an option. */
  readonly freeText?: boolean
  /** Whether the field may be emptied. */
  readonly optional?: boolean
  /** Called with the text as it is typed, where the options depend on it. */
  readonly onType?: (text: string) => void
}

/** A text field with a list of matching options, for long lists such as the models. Any of the options, or free text. */
export function Combobox(props: ComboboxProps) {
  const { label, value, placeholder, hint, error } = props
  const list = useOptionList(props)
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <div class="combobox">
          <input
            {...control}
            role="combobox"
            aria-expanded={list.open}
            aria-controls={`${control.id}-list`}
            aria-autocomplete="list"
            aria-activedescendant={list.open && list.active >= 0 ? `${list.id}-${list.active}` : undefined}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            placeholder={placeholder}
            value={list.text ?? value}
            onInput={(event) => list.type(event.currentTarget.value)}
            onFocus={(event) => event.currentTarget.select()}
            onClick={list.show}
            onBlur={list.leave}
            onKeyDown={list.handleKey}
          />
          <OptionList id={`${control.id}-list`} label={label} list={list} selected={value} />
        </div>
      )}
    </Field>
  )
}

type OptionListState = ReturnType<typeof useOptionList>

function OptionList(props: {
  readonly id: string
  readonly label: string
  readonly list: OptionListState
  readonly selected: string
}) {
  const { list } = props
  return (
    <ul id={props.id} role="listbox" aria-label={props.label} class="options" hidden={!list.open}>
      {list.shown.map((option, index) => (
        <li
          key={option.value}
          id={`${list.id}-${index}`}
          role="option"
          aria-selected={option.value === props.selected}
          class={index === list.active ? 'active' : ''}
          // Before the input loses the focus.
          onMouseDown={(event) => {
            event.preventDefault()
            list.choose(option.value)
          }}
        >
          <span>{option.value}</span>
          {option.detail !== undefined && <small>{option.detail}</small>}
        </li>
      ))}
    </ul>
  )
}

function useOptionList(props: ComboboxProps) {
  const { options, onChange, freeText = false, optional = false, onType } = props
  const id = useId()
  /** `text` is what is typed; undefined while nothing is. */
  const [state, setState] = useState<ListState>(closedList)
  const { text, open, active } = state
  const shown = open ? matching(options, text ?? '') : []
  const close = () => setState(closedList)
  const choose = (value: string) => {
    onChange(value)
    close()
  }
  const move = (step: number) => {
    const next = open ? (active + step + shown.length) % Math.max(1, shown.length) : 0
    setState({ text, open: true, active: next })
    document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: 'nearest' })
  }
  return {
    id,
    text,
    open: open && shown.length > 0,
    active,
    shown,
    choose,
    handleKey: keyHandler({ move, close, accept: () => choose(shown[active]?.value ?? text ?? ''), open }),
    show: () => setState({ ...state, open: true }),
    type(typed: string) {
      setState({ text: typed, open: true, active: typed === '' || freeText ? -1 : 0 })
      onType?.(typed)
    },
    /** Keeps a name that was typed in full, and that nothing was typed where that is allowed. */
    leave() {
      if (text || (optional && text === '')) onChange(text)
      close()
    },
  }
}

type ListState = { readonly text: string | undefined; readonly open: boolean; readonly active: number }

const closedList: ListState = { text: undefined, open: false, active: -1 }

function keyHandler(list: {
  readonly open: boolean
  readonly move: (step: number) => void
  readonly accept: () => void
  readonly close: () => void
}) {
  return (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') list.move(1)
    else if (event.key === 'ArrowUp') list.move(-1)
    else if (event.key === 'Enter' && list.open) list.accept()
    else if (event.key === 'Escape' && list.open) list.close()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
}

/** The options that contain every word of the text. */
function matching(options: readonly ComboboxOption[], text: string): readonly ComboboxOption[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  return options
    .filter(({ value, detail = '' }) => {
      const searched = `${value} ${detail}`.toLowerCase()
      return words.every((word) => searched.includes(word))
    })
    .slice(0, maxShown)
}
