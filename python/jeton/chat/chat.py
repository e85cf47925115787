"""`Chat`: a conversation as text and as ids, with who wrote each token."""

from __future__ import annotations

import bisect
import dataclasses
import functools
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from jeton.arguments import check_kind, checked_int, checked_iterable, suggestion
from jeton.chat.control import control_tokens_of
from jeton.chat.encoding import Encoded, encoded, encoded_ids
from jeton.chat.message_arguments import with_parsed_arguments, wrong_arguments
from jeton.chat.messages import Sent, sent_messages, texts_of_none
from jeton.chat.outlines import Outline, outlined
from jeton.chat.prefixes import Prefixes, Step, compared
from jeton.chat.rollout import Rollout
from jeton.chat.schemas import tools_of
from jeton.chat.templates.finding import name_of, template_of
from jeton.chat.templates.input import TemplateInput
from jeton.chat.templates.limits import current
from jeton.chat.templates.origins import ANSWERING, RESULTS, SYSTEM, Origin
from jeton.chat.templates.parts import raw, runs_of
from jeton.chat.templates.renderer import Renderer, questions
from jeton.chat.templates.trust import Trust
from jeton.chat.templates.turn_shape import turn_shape
from jeton.chat.templates.variables import PLAIN, TemplateValues
from jeton.chat.templates.writers import Writers
from jeton.chat.training.masks import Answers, Learnt
from jeton.chat.training.parts import checked_parts, covered, part_of_field
from jeton.chat.unprinted import Unprinted, UnprintedError
from jeton.display.human_readable import counted
from jeton.encoding.once import ends_of, roles_of, special_tokens_of
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    ChatWarning,
    JetonError,
    warn_caller,
)

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from jeton.encoding.base_tokenizer import BaseTokenizer

_FLAGS: Final = ("add_generation_prompt", "continue_final_message")
"""Parameters of such names that no variable of a template is like one by chance."""
_MARKS: Final = re.compile(r"<[|｜][^<>\s]+[|｜]>|<(?:start|end)_of_turn>|</?s>|\[/?INST\]")
"""How the templates of jeton spell control tokens."""
_MAX_RENDERINGS: Final = 64
"""How many prefixes of a conversation `keeps_prefix` renders: two per turn."""


@dataclass(frozen=True)
class Notes:
    """Sentences that warn the caller of a chat."""

    losses: tuple[str, ...]
    """What the template leaves out, and names that seem misspelled."""
    marks: str = ""
    """That the tokenizer has none of the template's control tokens."""

    def __str__(self) -> str:
        return "; ".join(filter(None, (*self.losses, self.marks)))


def _warn(notes: Notes) -> None:
    warn_caller(str(notes), ChatWarning)


@dataclass(frozen=True)
class Request:
    """The arguments of a call of `tok.chat`."""

    tok: BaseTokenizer
    messages: Any
    template: str | None = None
    tools: Any = None
    documents: Any = None
    add_generation_prompt: bool = False
    continue_final_message: bool | str = False
    trusted: Iterable[str | int] = ()
    control: Iterable[str] = ()
    variables: tuple[tuple[str, Any], ...] = ()
    isolate: bool | None = None
    """Whether the template runs in a process of its own; `None`: as `jeton.chat.limits` says."""
    counts_media: bool = False
    """Whether the caller handles parts that are not text, so that the template need not."""
    says: Callable[[Notes], None] = _warn
    """Receives what the caller should know, if there is anything."""
    trust: Trust | None = None
    """The trust of an earlier chat, if the messages are some of its messages."""
    with_spans: bool = False
    """Whether to encode with the spans of tokens at once, which a mask needs."""

    def build(self) -> Chat:
        """The chat.

        Raises:
            As `Tokenizer.chat`.
        """
        # What can be gone through only once is needed again to truncate.
        names = ("documents", "trusted", "control")
        given_once = [name for name in names if isinstance(getattr(self, name), Iterator)]
        lists: dict[str, Any] = {name: list(getattr(self, name)) for name in given_once}
        sent = sent_messages(self.messages, is_part=self.trust is not None)
        # An `AddedToken` is its text, as in transformers.
        variables = [
            (name, it.content if name.endswith("_token") and hasattr(it, "content") else it)
            for name, it in self.variables
        ]
        trust = self.trust
        if trust is None:
            trusted = lists.get("trusted", self.trusted)
            trust = Trust(trusted, sent, [name for name, _ in self.variables])
        lists["tools"] = None if self.tools is None else tools_of(self.tools)
        request = dataclasses.replace(
            self, messages=sent, variables=(*variables,), trust=trust, **lists
        )
        with questions():
            chat = Chat(request, request._values(sent, trust))
            if self.trust is None:
                chat.say_losses()
        if self.trust is None:
            _ = chat._encoded if self.with_spans else chat._ids  # no ids are an error at once
        return chat

    def _values(self, sent: list[Sent], trust: Trust) -> TemplateValues:
        documents = None if self.documents is None else _documents(self.documents)
        template = template_of(self.tok, self.template, with_tools=self.tools is not None)
        self._check_variables(template)
        # As in transformers, `bos_token="<s>"` is a control token, like the tokenizer's own.
        specials = special_tokens_of(self.tok)
        own = {
            name: str(it)
            for name, it in self.variables
            if name.endswith("_token") and isinstance(it, str) and it in specials
        }
        if not isinstance(self.isolate, (bool, type(None))):
            raise ArgumentTypeError(f"isolate must be a bool, not {self.isolate!r:.60}")
        renderer = Renderer(current().isolate if self.isolate is None else self.isolate)
        tokens = {f"{role}_token": token for role, token in roles_of(self.tok).items()} | own
        variables = {name: it for name, it in self.variables if name not in own}
        plain = {name: it for name, it in variables.items() if isinstance(it, PLAIN)}
        shape = turn_shape(self.tok, renderer, template, (*(tokens | plain).items(),))
        continued, input = self._continued(), TemplateInput(trust)
        return TemplateValues(
            template,
            renderer,
            shape,
            sent,
            variables,
            input,
            input.messages(with_parsed_arguments(sent, lambda: shape.keeps_text_arguments)),
            self.tools and input.tools(self.tools),
            documents and input.other("documents", documents),
            {
                "add_generation_prompt": self.add_generation_prompt,
                **tokens,
                **{name: input.other("variable", it, name) for name, it in variables.items()},
            },
            continued,
        )

    def _check_variables(self, template: str) -> None:
        """Refuses a misspelled parameter: a variable that the template does not name."""
        for name, _ in self.variables:
            question = "" if name in template else suggestion(name, _FLAGS)
            if question:
                raise ArgumentTypeError(
                    f"chat has no parameter {name!r}, and the template reads no variable of that "
                    f"name ({question})"
                )

    def _continued(self) -> str | None:
        field = self.continue_final_message
        check_kind("continue_final_message", field, (bool, str), "a bool or the name of a field")
        if not isinstance(self.add_generation_prompt, bool):
            raise ArgumentTypeError(
                f"add_generation_prompt must be a bool, not {self.add_generation_prompt!r:.60}"
            )
        if field and self.add_generation_prompt:
            raise ArgumentError(
                "a chat either continues its last message (continue_final_message) or begins "
                "a new one (add_generation_prompt)"
            )
        return "content" if field is True else field or None

    def of(self, messages: object, prompt: bool) -> Chat:
        """The chat of other messages: some of this one's, as they were sent, or new ones."""
        return dataclasses.replace(
            self,
            messages=messages,
            add_generation_prompt=prompt,
            continue_final_message=False,
        ).build()


def _documents(documents: object) -> list[Any]:
    documents = checked_iterable("documents", documents, "a list of dicts", but=(str, bytes, dict))
    listed = list(documents)
    if not all(isinstance(document, dict) for document in listed):
        raise ArgumentTypeError("each of documents must be a dict, with 'title' and 'text'")
    return listed


def _listed(losses: list[Origin]) -> str:
    """The first of them, for a message."""
    names = [f"the variable {it}" if it.kind == "variable" else str(it) for it in losses[:8]]
    return ", ".join(names) + f" and {len(losses) - 8:,} more" * (len(losses) > 8)


class Chat:
    """A rendered conversation. `tok.chat(messages)` makes it.

    Attributes:
        text: The text, as the template wrote it.
        template: The text of the template.
        dropped: The indices of the messages that `truncate` left out, in the chat that was cut.

    Example:
        >>> import jeton
        >>> tok = jeton.CharTrainer(special_tokens=["<|im_start|>", "<|im_end|>"]).train(
        ...     "<|user>\\nsystem im_end assistant hey"
        ... )
        >>> chat = tok.chat([{"role": "user", "content": "<|im_end|>hi"}], template="chatml")
        >>> [tok.decode([id]) for id in chat.ids if id in tok.special_tokens.values()]
        ['<|im_start|>', '<|im_end|>']
        >>> print(chat.origins[-3])
        messages[0].content
    """

    def __init__(self, request: Request, values: TemplateValues) -> None:
        text = values.text()
        self._request = request
        self._values = values
        self._runs = runs_of(text)
        self._control = control_tokens_of(
            request.tok, values.template, request.control, values.renderer, text
        )
        self._unprinted = Unprinted(values, text)
        self.text = raw(text)
        self.template = values.template
        self.dropped: list[int] = []

    def __len__(self) -> int:
        return len(self._ids)

    @functools.cached_property
    def _encoded(self) -> Encoded:
        return encoded(self._control, self.text, self._runs)

    @functools.cached_property
    def _ids(self) -> list[int]:
        if "_encoded" in self.__dict__:
            return self._encoded.ids
        return encoded_ids(self._control, self.text, self._runs)

    @property
    def ids(self) -> list[int]:
        """The ids. Only text of the template and of trusted fields gives control tokens; what the
        assistant says may hold those that are not marked special and frame no turn, as `<think>`.
        The list is new at each access.
        """
        return [*self._ids]

    @property
    def tools(self) -> list[Any] | None:
        """The tools, as JSON schemas."""
        return None if self._request.tools is None else [*self._request.tools]

    @property
    def roles(self) -> list[str | None]:
        """The role of each message."""
        return [message.role for message in self._values.sent]

    @property
    def control_tokens(self) -> dict[str, int]:
        """The control tokens of this chat, with their ids: the special tokens of the tokenizer, and
        added tokens that its template writes, or that its configuration or the call names."""
        return self._control.tok.special_tokens

    @property
    def isolates(self) -> bool | None:
        """The `isolate` that `tok.chat` was called with."""
        return self._request.isolate

    @property
    def call_count(self) -> int:
        """How many calls of tools its messages have."""
        calls = [it.fields.get("tool_calls") for it in self._values.sent]
        return sum(len(it) for it in calls if isinstance(it, (list, tuple)))

    @property
    def plain_variables(self) -> dict[str, Any]:
        """The variables of the template that are a str, a number, a bool or `None`."""
        return {name: it for name, it in self._request.variables if isinstance(it, PLAIN)}

    @property
    def unprinted(self) -> list[Origin]:
        """Everything that the template did not print: messages, fields and parts of messages,
        tools, documents, and variables that it does not read.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("hi")
            >>> chat = tok.chat(
            ...     [{"role": "user", "name": "Ann", "content": "hi"}],
            ...     template="{{ messages[0].content }}",
            ... )
            >>> print(*chat.unprinted)
            messages[0].name
        """
        return self.left_out()

    def left_out(self, *, with_media: bool = True) -> list[Origin]:
        """`unprinted`, on request without the parts that are not text."""
        with questions():
            return self._unprinted.origins(with_media=with_media)

    def say_losses(self, first: int = 0, moved: Sequence[Origin] = ()) -> None:
        """Reports content that the model does not see, and arguments that are not JSON objects.

        Args:
            first: The first message that counts. If it is not 0, only messages do.
            moved: Content that the template writes in front of ids that stay, without effect.

        Raises:
            UnsupportedError: The template is jeton's, which promises a format.
        """
        with questions():
            losses = self._unprinted.origins(
                with_media=not self._request.counts_media, for_models=True
            )
            hints = [] if first else [*self._unprinted.hints()]
        if first:
            losses = [it for it in losses if it.message is not None and it.message >= first]
            if results := [it for it in losses if it.role in RESULTS]:
                raise UnprintedError(
                    f"the chat template does not print {_listed(results)}, so the model would not "
                    "see a result of its call: give the message the tool_call_id and the name of "
                    "the call, as the answer has them"
                )
        name = name_of(self.template)
        empty = texts_of_none(self._values.sent, first)
        if name and empty:
            raise ArgumentError(
                f"{', '.join(empty)}: None is not text (leave the part out, or give it a str)"
            )
        if name and (refused := [it for it in losses if it.kind != "variable"]):
            raise UnprintedError(
                f"jeton's chat template {name!r} does not print {_listed(refused)}: give template= "
                "the text of the model's own template, as its tokenizer's folder has it"
            )
        notes = [f"the chat template does not print {_listed(losses)}"] if losses else []
        notes += wrong_arguments(self._values.sent, first)
        if empty and "None" in self.text:
            notes.append(f"{', '.join(empty)}: None is not text; the chat template prints 'None'")
        if moved:
            notes.append(
                f"the chat template writes {_listed([*moved])} in front of the answer, where ids "
                "stay as they are: the model does not see it"
            )
        marks = ""
        if name and not first and (spelled := self._spelled_marks()):
            marks = (
                f"the tokenizer has none of the control tokens of {name!r}, such as {spelled[0]}: "
                "they are ordinary text to it, and a model sees no turns"
            )
        if notes or hints or marks:
            self._request.says(Notes((*notes, *hints), marks))

    def _spelled_marks(self) -> list[str]:
        """The control marks that the template writes, if the tokenizer has no token for any."""
        parts = (self.text[start:end] for start, end, it in self.segments if it.kind == "template")
        marks = [mark for part in parts for mark in _MARKS.findall(part)]
        return [] if any(mark in self._request.tok for mark in marks) else marks

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The span of each token, in characters of `text`. The list is new at each access."""
        return [*self._encoded.spans]

    @property
    def tokenizer(self) -> BaseTokenizer:
        """The tokenizer that made it."""
        return self._request.tok

    @property
    def origins(self) -> list[Origin]:
        """Who wrote each token. A token of several is of the data in it. The list is new at each
        access."""
        return [*self._origins]

    @functools.cached_property
    def _origins(self) -> list[Origin]:
        return self._writers.origins()

    @functools.cached_property
    def _writers(self) -> Writers:
        return Writers(self._runs, self._encoded.spans)

    @property
    def segments(self) -> list[tuple[int, int, Origin]]:
        """The stretches of the text with who wrote them: start, end, origin. The list is new at
        each access."""
        return [*self._segments]

    @functools.cached_property
    def _segments(self) -> list[tuple[int, int, Origin]]:
        lengths, origins = zip(*self._runs, strict=True) if self._runs else ((), ())
        ends = [*itertools.accumulate(lengths)]
        return [*zip([0, *ends], ends, origins, strict=False)]

    def loss_mask(
        self, roles: Iterable[str] = ("assistant",), *, parts: Iterable[str] | None = None
    ) -> list[int]:
        """1 for each token that a model learns to write, else 0.

        If the template marks what the model writes (`{% generation %}`) and `roles` is only the
        assistant, the marks decide. Otherwise the mask covers the messages of these roles, with the
        text of the template inside each, and after it up to the first control token, which ends
        the turn; or up to a later one that follows immediately, if that ends the text, a turn of
        the user, or a chat that ends there. If no control token ends a turn, the mask ends with the
        text that the template writes at the end of the same chat without later turns. An answer
        begins after the generation prompt, or after as much of it as the turn has; if the template
        shows no prompt, it begins where another answer would. Parts of a call that a template
        repeats around its result are not learnt. An answer without text is what the template
        writes from the prompt to the token that ends the turn; it teaches the model to say nothing.

        Args:
            roles: Whose messages count.
            parts: What of them counts: any of `"reasoning"`, `"content"` and `"calls"`, by the
                fields of the messages. What the template writes in front of a part belongs to it,
                as `</think>` does to the words behind it. The token that ends the turn is always
                learnt, if it is `eos`, `eot` or one of the folder's `generation_config.json`. By
                default all count.

        Raises:
            ArgumentError: No token is covered, so nothing would be learnt; `parts` names a part
                that there is not.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer(special_tokens=["<|im_start|>", "<|im_end|>"]).train(
            ...     "<|user>\\nsystem im_end assistant hey"
            ... )
            >>> chat = tok.chat(
            ...     [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hey"}],
            ...     template="chatml",
            ... )
            >>> sum(chat.loss_mask())
            4
        """
        if isinstance(roles, str) or not isinstance(roles, Iterable):
            raise ArgumentTypeError('roles must be an iterable of roles, as ("assistant",)')
        named_parts = checked_parts(parts)
        named = set(roles)
        if not named:
            raise ArgumentError(
                'roles is empty: the loss mask would be all zero (name roles, as ("assistant",))'
            )
        if self._is_marked(named):
            mask = self._writers.any([origin.generated for _, origin in self._runs])
        else:
            mask = self._answers(named).mask()
        if parts is not None:
            mask = self._of_parts(mask, named_parts)
        if not any(mask):
            speakers = ", ".join(dict.fromkeys(map(repr, self.roles)))
            raise ArgumentError(
                f"no token was written by {' or '.join(map(repr, sorted(named)))}: the loss mask "
                f"would be all zero (the chat has {speakers})"
            )
        return [*map(int, mask)]

    def _is_marked(self, roles: set[str]) -> bool:
        """Whether the template marks what the model writes, of these roles."""
        return roles == {"assistant"} and any(origin.generated for _, origin in self._runs)

    def _answers(self, roles: set[str]) -> Answers:
        return Answers(
            self,
            self._request.messages,
            self._request.of,
            self._writers,
            self._values.shape,
            control=special_tokens_of(self._control.of_call),
            end=roles_of(self._control.of_call).ids.get("eos", -1),
            roles=roles,
        )

    def outline(self, roles: Iterable[str]) -> Outline | None:
        """What the chats of all messages with these roles and fields have in common, for the
        `loss_mask` of these roles; `None` if they may differ in more than their words.
        """
        named = set(roles)
        if self._unprinted.is_possible or self._values.has_more_than_messages:
            return None
        if self._is_marked(named):
            learnt: list[Learnt] | None = [
                Learnt(start, end, is_apart=False)
                for start, end, it in self._segments
                if it.generated
            ]
        else:
            learnt = self._answers(named).ranges()
        if learnt is None:
            return None
        return outlined(self._values, self._encoded, learnt)

    def _of_parts(self, mask: list[bool], parts: frozenset[str]) -> list[bool]:
        """What a mask covers of some parts of the answers."""
        ends = ends_of(self.tokenizer)
        origins, ids = self._origins, self._ids
        found, at = list[bool](), 0
        for is_learnt, stretch in itertools.groupby(mask):
            start, at = at, at + len([*stretch])
            if is_learnt:
                of = origins[start:at]
                kinds = [part_of_field(it.field) if it.kind == "message" else "" for it in of]
                found += covered(kinds, [id in ends for id in ids[start:at]], parts)
            else:
                found += [False] * (at - start)
        return found

    @functools.cached_property
    def keeps_prefix(self) -> Prefixes:
        """Whether each turn's ids begin those of the next, and where they differ.

        A model's cache stays valid only as long as the earlier ids stay the same. Some templates
        change earlier text: they leave out the reasoning of finished turns, or move the tools in
        front of the last question.

        Each turn needs a rendering of all messages up to it, so only the last 32 turns of a long
        conversation are rendered; `left_out` is the number of renderings that were skipped.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer(special_tokens=["<|im_start|>", "<|im_end|>"]).train(
            ...     "<|user>\\nsystem im_end assistant hey"
            ... )
            >>> chat = tok.chat(
            ...     [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hey"}],
            ...     template="chatml",
            ... )
            >>> chat.keeps_prefix
            Prefixes(kept: 2 renderings, each begins the next)
        """
        messages = self._request.messages
        renderings = [
            (count, prompt)
            for at, role in enumerate(self.roles)
            if role in ANSWERING
            for count, prompt in ((at, True), (at + 1, False))
            if count and (count < len(messages) or self._request.add_generation_prompt)
        ]
        steps: list[tuple[Step, list[int]]] = []
        for count, prompt in renderings[-_MAX_RENDERINGS:]:
            try:
                chat = self._request.of(messages[:count], prompt)
            except JetonError:
                continue  # a template may refuse a conversation that ends here
            steps.append((Step(count, prompt), chat.ids))
        whole = Step(len(messages), self._request.add_generation_prompt)
        left_out = max(len(renderings) - _MAX_RENDERINGS, 0)
        return compared([*steps, (whole, self.ids)], left_out)

    def extend(
        self,
        ids: Iterable[int],
        *,
        messages: Iterable[Mapping[str, Any]] = (),
        add_generation_prompt: bool = True,
    ) -> Rollout:
        """This prompt, the ids that a model sampled, and the messages that follow.

        The ids of the result always begin with those of this chat and the sampled ones; the
        template writes only what follows. `rewritten` of the result lists where rendering the whole
        conversation again would differ. The loss mask covers the sampled ids. For the
        next turn, call `extend` on the result.

        The template writes the conversation so far once per call, or twice where it may print parts
        of an answer again, and all of it is encoded. So a call takes time in proportion to all
        messages: with ChatML, about 90 µs for each.

        Args:
            ids: The ids that the model wrote, with the token that ended the answer. If that is
                missing, the template's is added, and not learnt.
            messages: The messages that follow: results of tools, or a turn of the user.
            add_generation_prompt: Whether the generation prompt for the next answer follows these.

        Raises:
            ArgumentError: This chat asks for no answer; `messages` begins with an answer; the
                template refuses the conversation.
            UnsupportedError: The format of the template's answers is not known; the template
                is jeton's, and does not print all of `messages`.

        Warns:
            ChatWarning: The template leaves out a message, puts one before the answer (such as a
                system message), or refuses the answer's calls or their ids; or the arguments of a
                call are not a JSON object.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer(special_tokens=["<|im_start|>", "<|im_end|>"]).train(
            ...     "<|user>\\nsystem im_end assistant hey"
            ... )
            >>> chat = tok.chat(
            ...     [{"role": "user", "content": "hi"}],
            ...     template="chatml",
            ...     add_generation_prompt=True,
            ... )
            >>> again = {"role": "user", "content": "hm"}
            >>> rollout = chat.extend(tok.encode("hey"), messages=[again])
            >>> tok.decode(rollout.ids[len(chat.ids) :])
            'hey<|im_end|>\\n<|im_start|>user\\nhm<|im_end|>\\n<|im_start|>assistant\\n'
        """
        request = self._request
        if not (request.add_generation_prompt or request.continue_final_message):
            raise ArgumentError(
                "the chat asks for no answer: make it with add_generation_prompt=True"
            )
        before = list(request.messages)
        if request.continue_final_message:
            before = before[:-1]
        return Rollout(self, before).extend(
            ids, messages=messages, add_generation_prompt=add_generation_prompt
        )

    def truncate(self, max_tokens: int) -> Chat:
        """The same chat without its oldest messages, so that it has at most `max_tokens` tokens.

        Whole turns are dropped, the oldest first: a message of a user and everything up to the
        next one. Messages of the system stay, and so does the last turn. `dropped` of the result
        lists the dropped messages.

        Args:
            max_tokens: The maximum number of tokens of the result.

        Raises:
            ArgumentError: The last turn alone is longer.
        """
        max_tokens = checked_int("max_tokens", max_tokens, 0)
        if len(self._ids) <= max_tokens:
            return self
        messages = self._request.messages
        turns = [at for at, role in enumerate(self.roles) if role == "user"]

        @functools.cache
        def without(count: int) -> Chat:
            first = turns[count] if count else 0
            kept = [at for at, role in enumerate(self.roles) if at >= first or role in SYSTEM]
            chat = self.of([messages[at] for at in kept])
            chat.dropped = sorted({*range(len(messages))} - {*kept})
            return chat

        # The more turns go the shorter it is, so few are tried.
        counts = range(max(len(turns), 1))
        count = bisect.bisect(counts, False, lo=1, key=lambda it: len(without(it)) <= max_tokens)
        if count not in counts:
            raise ArgumentError(
                f"the last turn and the messages of the system have {len(without(counts[-1])):,} "
                f"tokens, more than max_tokens={max_tokens:,} (shorten a message)"
            )
        return without(count)

    def continued(self, messages: list[Any], prompt: bool) -> Chat:
        """The same chat with more messages."""
        return dataclasses.replace(self._request, with_spans=True).of(messages, prompt)

    def of(self, messages: list[Sent]) -> Chat:
        """The same chat with only some of its messages."""
        return dataclasses.replace(self._request, messages=messages).build()

    def __repr__(self) -> str:
        messages, tokens = counted(len(self.roles), "message"), counted(len(self._ids), "token")
        return f"Chat({messages}, {tokens}: {self.text[:40]!r}{'…' * (len(self.text) > 40)})"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from jeton.chat.showing import coloured

        yield from coloured(self)
