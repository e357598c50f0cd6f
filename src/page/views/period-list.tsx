import { useMemo, useRef, useState } from 'preact/hooks'
import { useList } from '../api/pages.ts'
import { Button, FilterChip } from '../components/button.tsx'
import { SelectField, TextField } from '../components/field.tsx'
import { PagedTable } from '../components/paged-table.tsx'
import type { Column } from '../components/table-columns.tsx'
import { Empty, ViewHeader } from '../components/view.tsx'
import { type PageRoute, replaceQuery, routeHash } from '../route.ts'
import { useAdminApi } from '../session.tsx'
import {
  type FilteredPeriod,
  type FilterNames,
  listParameters,
  queryOf,
  readFilters,
} from './filtered-period.ts'
import { PeriodFields } from './usage/period-fields.tsx'
import { periodText, type RangeName } from './usage/period.ts'

/** A list of the admin API that is filtered, and of which the view of this name shows a period. */
export type PeriodListOf<Row, Name extends string> = {
  readonly view: string
  readonly title: string
  readonly path: string
  /** The caption of the table. */
  readonly label: string
  /** What the rows are, in a sentence. */
  readonly rows: string
  readonly columns: readonly Column<Row>[]
  readonly range: RangeName
  readonly filters: FilterNames<Name>
  /** The filter that is offered first. */
  readonly first: Name
  /** The filter with a field of its own, and the values that it offers. */
  readonly choice: { readonly name: Name; readonly options: readonly Option[] }
}

type Option = { readonly value: string; readonly label: string }

/** The way back from a row to the list of the view, with the filters that it had. */
export function useListHash(view: string, { path, query }: PageRoute): string {
  const listed = useRef(query)
  if (path.length === 0) listed.current = query
  return routeHash(view, [], Object.fromEntries(listed.current))
}

/** A view of such a list for the operator. Its period and its filters are kept in the address. */
export function PeriodList<Row extends { readonly id: string }, Name extends string>(props: {
  readonly list: PeriodListOf<Row, Name>
  readonly query: URLSearchParams
}) {
  const { list, query } = props
  const shown = readFilters(query, list.filters, list.range)
  // The pages of one list have the same times.
  const now = useMemo(() => Math.floor(Date.now() / 1000), [query.toString()])
  const pages = useList<Row>(useAdminApi(), list.path, { ...listParameters(shown, now), limit: 50 })
  return (
    <>
      <ViewHeader title={list.title}>
        <Button label="Refresh" icon="retry" onClick={pages.reload} />
      </ViewHeader>
      <div class="stack">
        <Filters list={list} shown={shown} now={now} />
        <PagedTable
          label={list.label}
          columns={list.columns}
          pages={pages}
          rowKey={({ id }) => id}
          rowHref={({ id }) => routeHash(list.view, [id])}
          empty={<NoRows rows={list.rows} shown={shown} />}
        />
      </div>
    </>
  )
}

function NoRows({ rows, shown }: { readonly rows: string; readonly shown: FilteredPeriod<string> }) {
  const filtered = Object.keys(shown.filters).length > 0
  return (
    <Empty
      title={`No ${filtered ? 'such ' : ''}${rows} ${periodText(shown.period)}`}
      text={filtered ? 'Remove a filter, or choose a longer period.' : 'Choose a longer period.'}
    />
  )
}

type SetFilter<Name extends string> = (name: Name, value: string) => void

type FilterProps<Name extends string> = {
  readonly list: Pick<PeriodListOf<never, Name>, 'filters' | 'first' | 'choice'>
  readonly shown: FilteredPeriod<Name>
}

function Filters<Name extends string>(props: FilterProps<Name> & { readonly now: number }) {
  const { list, shown, now } = props
  const { filters, choice } = list
  const change = (changed: Partial<FilteredPeriod<Name>>) => replaceQuery(queryOf({ ...shown, ...changed }))
  const set: SetFilter<Name> = (name, value) =>
    change({ filters: { ...shown.filters, [name]: value || undefined } })
  const value = shown.filters[choice.name] ?? ''
  // The address may have any value.
  const isOffered = choice.options.some((option) => option.value === value)
  return (
    <>
      <div class="usage-controls">
        <PeriodFields period={shown.period} now={now} onSelect={(period) => change({ period })} />
        <SelectField
          label={filters[choice.name]}
          value={value}
          options={isOffered ? choice.options : [...choice.options, { value, label: value }]}
          onChange={(chosen) => set(choice.name, chosen)}
        />
        <AddFilter list={list} onAdd={set} />
      </div>
      <ActiveFilters list={list} shown={shown} onChange={set} />
    </>
  )
}

function AddFilter<Name extends string>(props: {
  readonly list: FilterProps<Name>['list']
  readonly onAdd: SetFilter<Name>
}) {
  const { filters, first } = props.list
  const [name, setName] = useState<Name>(first)
  const [value, setValue] = useState('')
  const add = (event: Event) => {
    event.preventDefault()
    if (value.trim() === '') return
    props.onAdd(name, value.trim())
    setValue('')
  }
  const addable = namesOf(filters).map((one) => ({ value: one, label: filters[one] }))
  return (
    <form class="pair" onSubmit={add}>
      <SelectField label="Filter by" value={name} options={addable} onChange={setName} />
      <TextField label="Value" value={value} onInput={setValue} />
      <Button label="Filter" type="submit" disabled={value.trim() === ''} />
    </form>
  )
}

function ActiveFilters<Name extends string>(
  props: FilterProps<Name> & { readonly onChange: SetFilter<Name> },
) {
  const { list, shown, onChange } = props
  const { filters, choice } = list
  const active = namesOf(filters).filter((name) => shown.filters[name] !== undefined && name !== choice.name)
  if (active.length === 0) return null
  return (
    <div class="chips">
      {active.map((name) => (
        <FilterChip
          key={name}
          name={filters[name]}
          value={shown.filters[name] ?? ''}
          onClear={() => onChange(name, '')}
        />
      ))}
    </div>
  )
}

function namesOf<Name extends string>(filters: FilterNames<Name>): readonly Name[] {
  return Object.keys(filters) as Name[]
}
