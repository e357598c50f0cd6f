import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { type Days, daysOf, daysProblem, type Period, type RangeName, ranges, readDays } from './period.ts'

/** The choice of a period: a range that ends now, or days. */
export function PeriodFields(props: {
  readonly period: Period
  /** Unix seconds. */
  readonly now: number
  readonly onSelect: (period: Period) => void
}) {
  const { period, onSelect } = props
  return (
    <>
      <RangeButtons selected={typeof period === 'string' ? period : undefined} onSelect={onSelect} />
      <DayFields {...props} />
    </>
  )
}

/** The choice of a range. */
export function RangeButtons(props: {
  readonly selected: RangeName | undefined
  readonly onSelect: (range: RangeName) => void
}) {
  return (
    <div class="segmented" role="group" aria-label="Range">
      {(Object.keys(ranges) as RangeName[]).map((name) => (
        <Button
          key={name}
          label={ranges[name].label}
          pressed={name === props.selected}
          onClick={() => props.onSelect(name)}
        />
      ))}
    </div>
  )
}

/** The choice of a period of days; the fields show the days of another period, too. */
function DayFields(props: {
  readonly period: Period
  /** Unix seconds. */
  readonly now: number
  readonly onSelect: (days: Days) => void
}) {
  const { period, now, onSelect } = props
  /** The typed text, until it is a period. */
  const [draft, setDraft] = useState<Days>()
  const days = draft ?? daysOf(period, now)
  const change = (changed: Partial<Days>) => {
    const next = { ...days, ...changed }
    const valid = readDays(next.first, next.last)
    setDraft(valid === undefined ? next : undefined)
    if (valid !== undefined) onSelect(valid)
  }
  const error = daysProblem(days)
  return (
    <>
      <DayField label="First day" value={days.first} onInput={(first) => change({ first })} />
      <DayField label="Last day" value={days.last} error={error} onInput={(last) => change({ last })} />
    </>
  )
}

function DayField(props: {
  readonly label: string
  readonly value: string
  readonly error?: string | undefined
  readonly onInput: (day: string) => void
}) {
  return (
    <Field label={props.label} error={props.error}>
      {(control) => (
        <input
          {...control}
          type="date"
          min="2000-01-01"
          max="2999-12-31"
          value={props.value}
          onInput={(event) => props.onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}
