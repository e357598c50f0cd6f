import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Button, FilterChip } from '../components/button.tsx'
import { SelectField, TextField } from '../components/field.tsx'
import { replaceQuery } from '../route.ts'
import { type FilteredPeriod, type FilterNames, queryOf } from './filtered-period.ts'
import { DayFields, RangeButtons } from './usage/period-fields.tsx'

type SetFilter<Name extends string> = (name: Name, value: string) => void

type Props<Name extends string> = {
  readonly shown: FilteredPeriod<Name>
  /** Unix seconds. */
  readonly now: number
  readonly names: FilterNames<Name>
  /** The filter that is offered first. */
  readonly first: Name
  /** The filter that has a field of its own. */
  readonly own: Name
  readonly children: (setFilter: SetFilter<Name>) => ComponentChildren
}

/** The period and the filters of a list, which are kept in the address. */
export function PeriodFilters<Name extends string>(props: Props<Name>) {
  const { shown, now, names, first, own, children } = props
  const { period, filters } = shown
  const change = (changed: Partial<FilteredPeriod<Name>>) => replaceQuery(queryOf({ ...shown, ...changed }))
  const setFilter: SetFilter<Name> = (name, value) =>
    change({ filters: { ...filters, [name]: value || undefined } })
  return (
    <>
      <div class="usage-controls">
        <RangeButtons
          selected={typeof period === 'string' ? period : undefined}
          onSelect={(range) => change({ period: range })}
        />
        <DayFields period={period} now={now} onSelect={(days) => change({ period: days })} />
        {children(setFilter)}
        <AddFilter names={names} first={first} onAdd={setFilter} />
      </div>
      <ActiveFilters names={names} own={own} filters={filters} onChange={setFilter} />
    </>
  )
}

function ActiveFilters<Name extends string>({
  names,
  own,
  filters,
  onChange,
}: Pick<Props<Name>, 'names' | 'own'> & {
  readonly filters: FilteredPeriod<Name>['filters']
  readonly onChange: SetFilter<Name>
}) {
  const active = (Object.keys(names) as Name[]).filter((name) => filters[name] !== undefined && name !== own)
  if (active.length === 0) return null
  return (
    <div class="chips">
      {active.map((name) => (
        <FilterChip
          key={name}
          name={names[name]}
          value={filters[name] ?? ''}
          onClear={() => onChange(name, '')}
        />
      ))}
    </div>
  )
}

function AddFilter<Name extends string>({
  names,
  first,
  onAdd,
}: Pick<Props<Name>, 'names' | 'first'> & { readonly onAdd: SetFilter<Name> }) {
  const [name, setName] = useState<Name>(first)
  const [value, setValue] = useState('')
  const add = (event: Event) => {
    event.preventDefault()
    if (value.trim() === '') return
    onAdd(name, value.trim())
    setValue('')
  }
  const addable = (Object.keys(names) as Name[]).map((value) => ({ value, label: names[value] }))
  return (
    <form class="pair" onSubmit={add}>
      <SelectField label="Filter by" value={name} options={addable} onChange={setName} />
      <TextField label="Value" value={value} onInput={setValue} />
      <Button label="Filter" type="submit" disabled={value.trim() === ''} />
    </form>
  )
}
