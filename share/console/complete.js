// SPDX-License-Identifier: Apache-2.0
// Completion of queries from the schema, in fields with `data-complete`: "query" for PQL and AST,
// "nodes" for a condition on nodes. The field works without it.

let schema = null;

async function load() {
  schema ??= await (await fetch('/console/schema.json')).json();
  return schema;
}

const operators = ['and', 'or', 'not', '=', '~', '<', '<=', '>', '>=', 'in', 'extract', 'from', 'function',
  'group_by', 'limit', 'null?', 'offset', 'order_by', 'subquery', 'array', '~>'];
const words = ['and', 'or', 'not', 'in', 'is null', 'is not null', 'group by', 'order by', 'limit', 'offset'];
const functions = ['count()', 'avg()', 'sum()', 'min()', 'max()'];

/** Returns the text without the content of closed strings, which may contain brackets. */
function withoutStrings(text) {
  return text.replace(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g, "''");
}

/** What encloses the caret in PQL: the entity, and "[", "{" or "" for the top. */
function pqlContext(before, outermost) {
  const stack = [{ entity: outermost, open: outermost ? '{' : '' }];
  let word = '';
  let latest = outermost;
  for (const token of withoutStrings(before).match(/[\w.?-]+|[[\]{}()]|[^\s\w]/g) ?? []) {
    if (token === '[' || token === '{') {
      if (schema.entities[word]) latest = word;
      stack.push({ entity: latest, open: token });
    } else if (token === ']' || token === '}') {
      if (stack.length > 1) stack.pop();
      if (token === ']') {
        word = latest;  // "nodes[certname] {": the braces belong to the same entity
        continue;
      }
      latest = stack[stack.length - 1].entity;
    }
    word = token;
  }
  return stack[stack.length - 1];
}

function pqlChoices(before, outermost) {
  const prefix = /[\w.?-]*$/.exec(before)[0];
  const head = before.slice(0, before.length - prefix.length);
  if ((withoutStrings(head).match(/['"]/g) ?? []).length % 2 === 1) return { prefix, all: [] };
  const { entity, open } = pqlContext(head, outermost);
  const found = schema.entities[entity];
  if (prefix.startsWith('facts.')) return { prefix, all: schema.facts.map((name) => [`facts.${name}`, 'fact']) };
  if (found && /=\s*$/.test(head)) {
    const field = /([\w.?-]+)\s*=\s*$/.exec(head)?.[1];
    const type = found.fields.find(([name]) => name === field)?.[1];
    return { prefix, all: type === 'boolean' ? [['true', ''], ['false', '']] : [] };
  }
  if (/[~<>]\s*$/.test(head)) return { prefix, all: [] };
  if (!found) return { prefix, all: open ? [] : Object.keys(schema.entities).map((name) => [name, 'entity']) };
  const all = found.fields.map(([name, type]) => [name, type]);
  if (open === '[') return { prefix, all: all.concat(functions.map((name) => [name, 'function'])) };
  return { prefix, all: all.concat(words.map((name) => [name, '']), found.related.map((name) => [name, 'entity'])) };
}

/** An AST is completed inside its strings. */
function astChoices(before) {
  const quote = before.lastIndexOf('"');
  const prefix = before.slice(quote + 1);
  const head = before.slice(0, quote + 1);
  if ((head.match(/"/g) ?? []).length % 2 === 0) return { prefix: '', all: [] };
  if (/"from"\s*,\s*"$/.test(head) || /"subquery"\s*,\s*"$/.test(head)) {
    return { prefix, all: Object.keys(schema.entities).map((name) => [name, 'entity']) };
  }
  if (/\[\s*"$/.test(head) && !/"(extract|group_by|order_by)"\s*,\s*\[\s*\[?\s*"$/.test(head)) {
    return { prefix, all: operators.map((name) => [name, 'operator']) };
  }
  const entity = [...head.matchAll(/"from"\s*,\s*"(\w+)"/g)].pop()?.[1];
  const fields = schema.entities[entity]?.fields ?? [];
  if (/"name"\s*,\s*"$/.test(head)) return { prefix, all: schema.facts.map((name) => [name, 'fact']) };
  return { prefix, all: fields };
}

function choices(field) {
  const before = field.value.slice(0, field.selectionStart);
  const { prefix, all } = field.dataset.complete === 'query' && before.trimStart().startsWith('[')
    ? astChoices(before) : pqlChoices(before, field.dataset.complete === 'nodes' ? 'nodes' : null);
  const wanted = prefix.toLowerCase();
  const starts = all.filter(([name]) => name.toLowerCase().startsWith(wanted) && name !== prefix);
  const others = all.filter(([name]) => wanted && name.toLowerCase().indexOf(wanted) > 0);
  return { prefix, found: starts.concat(others).slice(0, 12) };
}

function complete(field) {
  const list = document.createElement('ul');
  list.id = `${field.id}-choices`;
  list.className = 'choices';
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', 'Completions');
  list.hidden = true;
  const status = document.createElement('span');
  status.className = 'vh';
  status.setAttribute('role', 'status');
  const box = document.createElement('span');
  box.className = 'completes';
  field.before(box);
  box.append(field, list, status);
  field.setAttribute('aria-autocomplete', 'list');
  field.setAttribute('aria-controls', list.id);
  let active = -1;
  let prefix = '';

  function close() {
    list.hidden = true;
    active = -1;
    field.removeAttribute('aria-activedescendant');
  }

  function accept(index) {
    const name = list.children[index].dataset.name;
    const end = field.selectionStart;
    field.setRangeText(name, end - prefix.length, end, 'end');
    close();
    field.focus();
  }

  function move(step) {
    list.children[active]?.removeAttribute('aria-selected');
    active = (active + step + list.children.length) % list.children.length;
    const item = list.children[active];
    item.setAttribute('aria-selected', 'true');
    field.setAttribute('aria-activedescendant', item.id);
    item.scrollIntoView({ block: 'nearest' });
  }

  async function open(asked) {
    await load();
    const result = choices(field);
    prefix = result.prefix;
    if (result.found.length === 0 || (!asked && prefix === '')) return close();
    active = -1;
    list.replaceChildren(...result.found.map(([name, about], i) => {
      const item = document.createElement('li');
      item.id = `${list.id}-${i}`;
      item.dataset.name = name;
      item.setAttribute('role', 'option');
      const text = document.createElement('span');
      text.textContent = name;
      const note = document.createElement('span');
      note.className = 'm';
      note.textContent = about;
      item.append(text, note);
      item.addEventListener('mousedown', (event) => {
        event.preventDefault();
        accept(i);
      });
      return item;
    }));
    list.hidden = false;
    status.textContent = `${result.found.length} completions`;
  }

  field.addEventListener('input', () => open(false).catch(close));
  field.addEventListener('blur', close);
  field.addEventListener('keydown', (event) => {
    if (event.key === ' ' && event.ctrlKey) {
      event.preventDefault();
      open(true).catch(close);
    } else if (event.key === 'Enter' && event.ctrlKey) {
      field.form?.requestSubmit();
    } else if (!list.hidden && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
      event.preventDefault();
      move(event.key === 'ArrowDown' ? 1 : -1);
    } else if (!list.hidden && active >= 0 && (event.key === 'Enter' || event.key === 'Tab')) {
      event.preventDefault();
      accept(active);
    } else if (!list.hidden && event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      close();
    }
  });
}

document.querySelectorAll('[data-complete]').forEach(complete);
