import type { ComponentChildren } from 'preact'
import type { Pages } from '../api/pages.ts'
import { formatCount } from './format.ts'
import { Table, type TableProps } from './table.tsx'
import { Failure, Loading } from './view.tsx'

/** A table of a list that is loaded page by page while one scrolls; it can be sorted once all of it is loaded. */
export function PagedTable<Row>(
  props: Omit<TableProps<Row>, 'rows' | 'empty' | 'onNearEnd' | 'partial'> & {
    readonly pages: Pages<Row>
    /** The content that is shown instead of no rows. */
    readonly empty: ComponentChildren
  },
) {
  const { pages, empty, ...table } = props
  const { items, loading, failure, hasMore, loadMore } = pages
  if (items.length === 0 && failure === undefined) return loading ? <Loading lines={12} /> : <>{empty}</>
  return (
    <>
      {items.length > 0 && (
        <Table
          {...table}
          rows={items}
          partial={hasMore}
          onNearEnd={hasMore && failure === undefined ? loadMore : undefined}
        />
      )}
      {failure && <Failure failure={failure} retry={items.length === 0 ? pages.reload : loadMore} />}
      {items.length > 0 && (
        <p class="quiet number" role="status">
          {formatCount(items.length)} {hasMore ? 'loaded. More are loaded when you scroll.' : 'in all.'}
        </p>
      )}
    </>
  )
}
