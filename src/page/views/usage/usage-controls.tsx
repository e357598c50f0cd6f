import { Button } from '../../components/button.tsx'
import { SelectField } from '../../components/field.tsx'
import { FilterChip } from '../../components/filter-chip.tsx'
import { replaceQuery } from '../../routing/route.ts'
import { type Grouping, groupings } from './grouping.ts'
import { type RangeName, ranges } from './range.ts'
import { queryOf, type UsageQuery } from './usage-query.ts'

/** The range, the grouping and the filters, which are kept in the address. */
export function UsageControls(props: { readonly shown: UsageQuery; readonly canSwitch: boolean }) {
  const { shown, canSwitch } = props
  const change = (changed: Partial<UsageQuery>) => replaceQuery(queryOf({ ...shown, ...changed }))
  return (
    <div class="usage-controls">
      <div class="segmented" role="group" aria-label="Range">
        {Object.entries(ranges).map(([name, { label }]) => (
          <Button
            key={name}
            label={label}
            pressed={name === shown.range}
            onClick={() => change({ range: name as RangeName })}
          />
        ))}
      </div>
      <SelectField
        label="Group by"
        value={shown.by}
        options={groupingOptions(shown.everyone)}
        onChange={(by) => change({ by })}
      />
      {canSwitch && (
        <SelectField
          label="Usage of"
          value={shown.everyone ? 'all' : 'own'}
          options={scopes}
          onChange={(scope) => change({ everyone: scope === 'all' })}
        />
      )}
      {shown.model !== undefined && (
        <FilterChip name="Model" value={shown.model} onClear={() => change({ model: undefined })} />
      )}
      {shown.key !== undefined && (
        <FilterChip name="API key" value={shown.key} onClear={() => change({ key: undefined })} />
      )}
    </div>
  )
}

const scopes = [
  { value: 'own', label: 'The organization of the key' },
  { value: 'all', label: 'All organizations' },
] as const

function groupingOptions(everyone: boolean) {
  return Object.entries(groupings)
    .filter(([name]) => everyone || name !== 'organization_id')
    .map(([name, label]) => ({ value: name as Grouping, label }))
}
