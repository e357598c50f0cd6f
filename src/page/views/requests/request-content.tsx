import { useState } from 'preact/hooks'
import type { RequestContent as RequestContentObject } from '../../api/objects.ts'
import { useGet } from '../../api/resource.ts'
import { Button, CodeBlock } from '../../components/button.tsx'
import { visibleText } from '../../components/format.ts'
import { Loaded, Section } from '../../components/view.tsx'
import { useAdminApi } from '../../session.tsx'

/** The content of a request and of its answer: loaded only on demand. */
export function RequestContent({ id }: { readonly id: string }) {
  const [wanted, setWanted] = useState(false)
  return (
    <Section title="Content">
      {wanted ? (
        <LoadedContent id={id} />
      ) : (
        <div>
          <Button label="Show the content" onClick={() => setWanted(true)} />
        </div>
      )}
    </Section>
  )
}

function LoadedContent({ id }: { readonly id: string }) {
  const content = useGet<RequestContentObject>(
    useAdminApi(),
    `/admin/requests/${encodeURIComponent(id)}/content`,
  )
  return (
    <Loaded resource={content} lines={6}>
      {({ kept, request, response, error }) =>
        kept ? (
          <>
            <Part label="request" value={request} />
            <Part label="response" value={response} />
            <Part label="error" value={error} />
          </>
        ) : (
          <p class="quiet">
            No content is kept: the content log of the API key was off, no provider was sent the request, or
            the content is deleted already.
          </p>
        )
      }
    </Loaded>
  )
}

function Part({ label, value }: { readonly label: string; readonly value: unknown }) {
  if (value === null) return null
  return <CodeBlock code={visibleText(JSON.stringify(value, null, 2))} label={label} />
}
