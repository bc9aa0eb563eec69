/** A titled list on the Home page, with two lines for each row. */
import type { ComponentChildren } from 'preact';

import { hashOf, type Route } from '../route.ts';

interface PanelProps {
  title: string;
  count: number;
  /** Shown for an empty list. */
  empty?: string;
  more?: Route;
  children: ComponentChildren;
}

export function Panel({ title, count, empty, more, children }: PanelProps) {
  return (
    <section class="panel card" aria-label={title}>
      <h2>
        {title} <span class="quiet">{count}</span>
        {more && count > 0 && (
          <a class="panel-more" href={hashOf(more)}>
            all
          </a>
        )}
      </h2>
      {count === 0 ? <p class="quiet">{empty}</p> : <ul>{children}</ul>}
    </section>
  );
}

interface PanelRowProps {
  href: string;
  what: string;
  by: string;
  end: ComponentChildren;
  action?: ComponentChildren;
}

export function PanelRow({ href, what, by, end, action }: PanelRowProps) {
  return (
    <li class="panel-row">
      <span class="panel-lines">
        <a class="mono cut" href={href} title={what}>
          {what}
        </a>
        <span class="quiet cut" title={by}>
          {by}
        </span>
      </span>
      <span class="panel-end">{end}</span>
      {action}
    </li>
  );
}
